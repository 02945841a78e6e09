// Parses numbers in the kernel's small text files, in place. The text begins with a line end, which
// the reader adds, so that every key follows one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plim::node {

std::optional<std::uint64_t> leading_number(std::string_view text);  // skips white space before it
// "\nkey 123\n"
std::optional<std::uint64_t> value_of_key(std::string_view text, std::string_view key);
// The total of "some avg10=0.00 … total=123".
std::optional<std::uint64_t> pressure_total(std::string_view text, std::string_view kind);

// Both write a value per NUMA node to `out` and return the number of nodes.
// The line "hierarchical_total=7 N0=3 N1=4", otherwise the line "total".
std::size_t numa_pages_v1(std::string_view text, std::span<std::uint64_t> out);
// The sum of all "anon N0=… N1=…" lines on the kernel's LRU lists: the total of version 1.
std::size_t numa_bytes_v2(std::string_view text, std::span<std::uint64_t> out);

}  // namespace plim::node
