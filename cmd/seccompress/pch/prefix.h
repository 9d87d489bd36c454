// SPDX-License-Identifier: Apache-2.0
// Precompiled for this executable alone: what most of its files include and what takes longest to compile.
#ifndef SECCOMPRESS_CMD_PREFIX_H_  // not #pragma once: a precompiled header is a main file
#define SECCOMPRESS_CMD_PREFIX_H_

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#endif
