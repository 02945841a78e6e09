#include "agent/dimms.hpp"

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

constexpr std::string_view kModules =
    "Physical Memory Array\n\tLocation: System Board\n\tMaximum Capacity: 1 TB\n\n"
    "Memory Device\n\tData Width: 64 bits\n\tSize: 16 GB\n\tType: DDR4\n"
    "\tType Detail: Synchronous Registered (Buffered)\n\tSpeed: 2933 MT/s\n"
    "\tConfigured Memory Speed: 2666 MT/s\n\n"
    "Memory Device\n\tSize: 16384 MB\n\tType: DDR4\n\tType Detail: Synchronous\n\tSpeed: 2933 "
    "MT/s\n\n"
    "Memory Device\n\tSize: No Module Installed\n\tType: Unknown\n\tSpeed: Unknown\n\n"
    "Memory Device\n\tSize: 126 GB\n\tType: Logical non-volatile device\n"
    "\tType Detail: Synchronous Non-Volatile LRDIMM\n\tSpeed: 2666 MT/s\n\n"
    "Memory Device\n\tSize: 64 kB\n\tType: Flash\n";

TEST(Dimms, are_counted_by_their_kind) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const Dimms dimms = parse_dimms(kModules);
  EXPECT_EQ(dimms.ram, (DimmKind{2, 32 * kGiB}));
  EXPECT_EQ(dimms.nvm, (DimmKind{1, 126 * kGiB}));
  EXPECT_EQ(dimms.ram_bytes_per_second, 2 * 2933 * std::uint64_t{8'000'000});
}

TEST(Dimms, are_empty_for_invalid_output) {
  for (std::string_view text :
       {"", "Memory Device", "Memory Device\n\tSize: 99999999999999999999 GB\n\tType: DDR4\n",
        "Memory Device\n\tSize: 18446744073709551615 TB\n\tType: DDR4\n",
        "\tSize: 1 GB\n\tType: DDR4\n"})
    EXPECT_EQ(parse_dimms(text), Dimms{}) << text;
}

}  // namespace
}  // namespace plim::agent
