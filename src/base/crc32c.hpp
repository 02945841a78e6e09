// CRC-32C (Castagnoli), the checksum of our files: by the processor where it can, by table
// elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace plim {

// `before` is the sum of the bytes in front of these.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// The two ways, for the test that holds them equal.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0);
bool has_crc32c_instruction();

}  // namespace plim
