// A short cut to a field of the usual record: one flat object without escapes in front of the
// field.
#pragma once

#include <cstddef>
#include <string_view>

#include "flow/fields.hpp"

namespace plim::flow {

// `quoted` is the key with its quotes. `from_end` is where it stood last time, counted from the end
// of the record: records of one source look alike. kind missing: not found this way, which says
// nothing about the record; take a parser.
Field find_flat(Record record, std::string_view quoted, std::size_t& from_end);

}  // namespace plim::flow
