// HTTP/2 as bytes, for peers that break the protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plim::net::h2 {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Types of frames, and flags.
inline constexpr int kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7,
                     kWindowUpdate = 8, kContinuation = 9;
inline constexpr int kEndStream = 1, kAck = 1, kEndHeaders = 4;

std::string frame(int type, int flags, std::uint32_t stream, std::string_view payload = {});
std::string field(std::string_view name, std::string_view value);  // literal, not indexed
std::string number32(std::uint32_t number);

struct SeenFrame {
  int type = 0;
  int flags = 0;
  std::uint32_t stream = 0;
  std::string payload = {};
};

// Removes the complete frames from the start of `wire` and returns them.
std::vector<SeenFrame> take_frames(std::string& wire);
std::uint32_t number_at(std::string_view bytes, std::size_t offset);

// "name: value" lines of every HEADERS frame in `wire`.
std::string headers_in(std::string_view wire);

}  // namespace plim::net::h2
