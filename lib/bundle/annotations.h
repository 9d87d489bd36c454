// SPDX-License-Identifier: Apache-2.0
// The `annotations` object that state and config.json share.
#pragma once

#include <map>
#include <string>

#include "read/json_cursor.h"

namespace seccompress::bundle {

// An absent or null object has none. False: a value is no string (reported).
bool read_annotations(read::json::Cursor& cursor, const read::json::Value& root,
                      std::map<std::string, std::string>& annotations);

}  // namespace seccompress::bundle
