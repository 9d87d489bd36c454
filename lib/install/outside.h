// SPDX-License-Identifier: Apache-2.0
// Which files the paths of a hook inside of the container lead to. A createContainer hook runs in the container's mount
// namespace, before pivot_root: what is mounted into the container lies over the host's files already, wherever the
// container's root is a parent of theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "install/identity.h"
#include "support/result.h"

namespace seccompress::install {

// From here on this process's paths begin at the root of the process that started `init`, in that one's mount
// namespace. Errors: Errc::refused when there is no such process in another mount namespace, or the kernel's.
Result<void> look_from_outside(const Identity& init);

// Nothing is mounted over an entry of a process in /proc, from which identities are read. To be asked first.
Result<void> check_proc();

// Is something mounted on `path` or on a folder above it, the root aside? Errors count as yes.
bool is_mounted_over(std::string_view path);

// Is `folder` one of the folders that `path` leads through, or `path` itself? Errors count as yes: a folder that cannot
// be looked at, and a path with a symbolic link in it.
bool leads_through(const std::string& path, const std::string& folder);

// Mount points in the order of /proc/PID/mountinfo (proc(5)), its escapes undone; a part of is_mounted_over.
std::vector<std::string> mount_points(std::string_view mountinfo);

}  // namespace seccompress::install
