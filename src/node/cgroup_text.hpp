// Numbers out of the kernel's small text files, in place. The text begins with a line end, put
// there by the reader, so that every key stands behind one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plim::node {

std::optional<std::uint64_t> leading_number(
    std::string_view text);  // white space before it is fine
// "\nkey 123\n"
std::optional<std::uint64_t> value_of_key(std::string_view text, std::string_view key);
// The total of "some avg10=0.00 … total=123".
std::optional<std::uint64_t> pressure_total(std::string_view text, std::string_view kind);

// Both: per node into `out`, the number of nodes is returned.
// The line "hierarchical_total=7 N0=3 N1=4", else the one of "total".
std::size_t numa_pages_v1(std::string_view text, std::span<std::uint64_t> out);
// All of "anon N0=… N1=…" that is on a list of the kernel's: what version 1 counts as total.
std::size_t numa_bytes_v2(std::string_view text, std::span<std::uint64_t> out);

}  // namespace plim::node
