// Packs records of decisions into bytes. As structs they take about 15 kB each, mostly for rows
// that differ little, and thousands are kept although few are ever read.
#pragma once

#include <string>
#include <string_view>

#include "sched/explain_record.hpp"

namespace plim::sched {

std::string pack(const ExplainRecord& record);

// `packed` must come from pack(); other bytes give an arbitrary record.
ExplainRecord unpack(std::string_view packed);

// The fields to find a record by, without unpacking the rest. They point into the packed bytes.
struct PackedKey {
  std::string_view ns, name, uid;
  std::int64_t attempt = 0;
};

PackedKey packed_key(std::string_view packed);

}  // namespace plim::sched
