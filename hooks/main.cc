// SPDX-License-Identifier: Apache-2.0
// seccompress-hook: an OCI hook for the stages createRuntime (or prestart) and createContainer. hooks/README.md says
// what it does, whom it trusts and what happens when it fails.
#include <getopt.h>

#include <cstdio>
#include <exception>

#include "hook.h"
#include "support/build_id.h"

namespace {

constexpr char kHelp[] =
    "usage: seccompress-hook [--config FILE] [--receipts FOLDER] < STATE\n"
    "OCI hook (createRuntime or prestart, and createContainer): the container gets one seccomp program that equals "
    "its\n"
    "profile and the host layers of FILE (default /etc/seccompress/config.yaml), as `seccompress prepare` left them "
    "in\n"
    "FOLDER (default /var/cache/seccompress) or compiled anew. Arguments after the options are ignored.\n";

constexpr option kOptions[] = {
    {"config", required_argument, nullptr, 'c'},
    {"help", no_argument, nullptr, 'h'},
    {"receipts", required_argument, nullptr, 'r'},
    {"version", no_argument, nullptr, 'v'},
    {nullptr, 0, nullptr, 0},
};

int print_version() {
  std::printf("seccompress-hook " SECCOMPRESS_VERSION "\nbuild id %s\n", std::string(seccompress::build_id()).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  seccompress::hooks::Options options;
  for (int choice = 0; (choice = ::getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (choice) {
      case 'r': options.receipts = optarg; break;
      case 'c': options.settings_path = optarg; break;
      case 'h': std::fputs(kHelp, stdout); return 0;
      case 'v': return print_version();
      default: std::fputs(kHelp, stderr); return 1;
    }
  }
  try {
    return seccompress::hooks::run_hook(options);
  } catch (const std::exception& error) {  // std::bad_alloc: nothing of ours throws
    std::fprintf(stderr, "seccompress-hook: error: %s\n", error.what());
    return 1;
  }
}
