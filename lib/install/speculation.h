// SPDX-License-Identifier: Apache-2.0
// Is SECCOMP_FILTER_FLAG_SPEC_ALLOW more than a word on this kernel?
#pragma once

namespace seccompress::install {

// Does a filter without that flag turn speculation mitigations on for its task here? Asked of the kernel: it puts one
// filter that allows everything on the calling thread, and looks. Unknown counts as yes.
bool filters_change_speculation();
// The same, in a child process: the caller stays unfiltered.
bool filters_change_speculation_of_a_child();

}  // namespace seccompress::install
