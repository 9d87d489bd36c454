// SPDX-License-Identifier: Apache-2.0
// Named steps of the tracer. In the product they are nothing; test/live builds the same sources with
// SECCOMPRESS_FAULTS, where the tracer stops itself (SIGSTOP) at the step asked for, so that tests can kill, stop
// or freeze it there without racing.
#pragma once

namespace seccompress::install {

#ifdef SECCOMPRESS_FAULTS
void fault_point(const char* step);  // test/live/fault_point.cc
#else
inline void fault_point(const char* /*step*/) {}
#endif

}  // namespace seccompress::install
