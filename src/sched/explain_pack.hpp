// Records of decisions as bytes: as structs they take some fifteen kilobytes each, mostly for rows
// that differ in little, and thousands of them are kept for the few that are asked for.
#pragma once

#include <string>
#include <string_view>

#include "sched/explain_record.hpp"

namespace plim::sched {

std::string pack(const ExplainRecord& record);

// Of what pack() made; anything else gives some record or other.
ExplainRecord unpack(std::string_view packed);

// What a record is found by, without unpacking the rest of it. Refers to the packed bytes.
struct PackedKey {
  std::string_view ns, name, uid;
  std::int64_t attempt = 0;
};

PackedKey packed_key(std::string_view packed);

}  // namespace plim::sched
