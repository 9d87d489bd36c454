// SPDX-License-Identifier: Apache-2.0
// What state and config.json share: the `annotations` object, and that no key hides behind another spelling.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "read/json_cursor.h"

namespace seccompress::bundle {

// An absent or null object has none. False: a value is no string (reported).
bool read_annotations(read::json::Cursor& cursor, const read::json::Value& root,
                      std::map<std::string, std::string>& annotations);

// Is there no key that differs from `key` only in case? Else reported: runc's decoder would take either (the last
// one), crun's only the exact one.
bool no_case_variants(read::json::Cursor& cursor, const read::json::Value& object, std::string_view key);

}  // namespace seccompress::bundle
