// A fast search for a field in a typical record: a flat object without escapes before the field.
#pragma once

#include <cstddef>
#include <string_view>

#include "flow/fields.hpp"

namespace plim::flow {

// `quoted` is the key with its quotes. `from_end` is the key's last position, counted from the end
// of the record, because records of one source are similar. The kind `missing` only means that the
// fast search did not find the field: use a parser then.
Field find_flat(Record record, std::string_view quoted, std::size_t& from_end);

}  // namespace plim::flow
