// The small encodings of gRPC over HTTP/2: length-prefixed messages, grpc-message, grpc-timeout.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "net/rpc.hpp"

namespace plim::net::rpc {

// The text of a grpc-message header. Encodes spaces at the ends too, since strict peers drop such a
// header. Long texts are cut at about 4 KiB, between characters.
std::string percent_encode(std::string_view text);

// Value of a grpc-timeout header: at most eight digits and a unit, at least a millisecond.
std::string format_timeout(RpcClock::duration left);
std::optional<RpcClock::duration> parse_timeout(std::string_view text);

// The point `left` from `now`; time_point::max() for kNoDeadline and whatever would overflow.
RpcClock::time_point deadline_after(RpcClock::time_point now, RpcClock::duration left);

// Appends one length-prefixed message.
void append_frame(std::string& out, std::string_view message);

// Splits a body into its messages as it arrives. Do not feed it after a failure.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_message) : max_message_(max_message) {}

  // Appends the messages that `bytes` complete to `out`. Memory grows with received bytes, not with
  // the announced length.
  RpcStatus feed(std::string_view bytes, std::deque<std::string>& out);

  bool mid_message() const { return in_body_ || prefix_have_ > 0; }

 private:
  static constexpr std::size_t kPrefix = 5;  // compression flag and four bytes of length

  RpcStatus start_body();

  std::size_t max_message_;
  std::array<unsigned char, kPrefix> prefix_{};
  std::size_t prefix_have_ = 0;
  std::size_t body_size_ = 0;
  bool in_body_ = false;
  std::string body_;
};

}  // namespace plim::net::rpc
