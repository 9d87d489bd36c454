// SPDX-License-Identifier: Apache-2.0
// The subcommands. argv[0] is the subcommand's name; the result is the exit code (design section 3).
#pragma once

namespace seccompress::cmd {

inline constexpr int kOk = 0;
inline constexpr int kNo = 1;      // the answer is no: `compare` found a difference
inline constexpr int kFailed = 2;  // no answer

int run_bench(int argc, char** argv);
int run_flatten(int argc, char** argv);
int run_compare(int argc, char** argv);
int run_disasm(int argc, char** argv);
int run_dump(int argc, char** argv);
int run_prepare(int argc, char** argv);
int run_status(int argc, char** argv);
int run_explain(int argc, char** argv);
int run_inspect(int argc, char** argv);
int run_run(int argc, char** argv);
int run_simulate(int argc, char** argv);

}  // namespace seccompress::cmd
