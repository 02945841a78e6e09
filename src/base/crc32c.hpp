// CRC-32C (Castagnoli), the checksum of our files. Uses the instruction of the processor if it
// exists, otherwise a table.
#pragma once

#include <cstdint>
#include <string_view>

namespace plim {

// `before` is the checksum of the preceding bytes.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// Both implementations, for the test that compares them.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0);
bool has_crc32c_instruction();

}  // namespace plim
