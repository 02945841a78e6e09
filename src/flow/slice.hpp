// The unit of work of controller, worker and ledger.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace plim::flow {

// Identifies a slice within its execution.
struct SliceKey {
  std::uint32_t slicer = 0;
  std::uint64_t order = 0;  // 1, 2, 3 … per slicer
  auto operator<=>(const SliceKey&) const = default;
};

struct Slice {
  SliceKey key;
  std::string id;       // UUID
  std::string request;  // JSON
  WallTime created = {};
  std::uint32_t attempt = 0;  // number of the last dispatch; 0: never assigned
};

enum class Outcome : std::uint8_t { completed, failed, cancelled };

// A worker's report on a slice.
struct SliceReport {
  SliceKey key;
  std::uint32_t attempt = 0;
  Outcome outcome = Outcome::completed;
  std::uint32_t retries = 0;  // attempts after the first one
  std::uint64_t records_in = 0;
  std::uint64_t records_out = 0;
  std::uint64_t bytes = 0;  // of the records read
  std::uint64_t micros = 0;
  std::string error = {};
  std::string printed = {};
};

}  // namespace plim::flow
