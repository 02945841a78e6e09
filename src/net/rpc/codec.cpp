#include "net/rpc/codec.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace plim::net::rpc {
namespace {

constexpr std::size_t kMaxStatusText = 4096;
constexpr std::size_t kLongestCharacter = 12;  // four bytes of UTF-8, each as %XX

bool is_continuation(unsigned char c) {
  return (c & 0xC0) == 0x80;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (out.size() >= kMaxStatusText &&
        (!is_continuation(c) || out.size() >= kMaxStatusText + kLongestCharacter))
      break;
    bool edge_blank = c == ' ' && (i == 0 || i + 1 == text.size());
    if (c < 0x20 || c > 0x7E || c == '%' || edge_blank) {
      out += '%';
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string format_timeout(RpcClock::duration left) {
  constexpr long long kMost = 99'999'999;
  auto ms = std::max(1LL, static_cast<long long>(
                              std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
  if (ms <= kMost) return fmt::format("{}m", ms);
  return fmt::format("{}S", std::min(ms / 1000, kMost));
}

std::optional<RpcClock::duration> parse_timeout(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 2 || text.size() > 9) return {};
  long long n = 0;
  const char* unit = text.data() + text.size() - 1;
  auto [end, error] = std::from_chars(text.data(), unit, n);
  if (error != std::errc() || end != unit || n < 0) return {};
  switch (*unit) {
    case 'H':
      return hours(std::min(n, 1'000'000LL));  // beyond that nanoseconds overflow
    case 'M':
      return minutes(std::min(n, 60'000'000LL));
    case 'S':
      return seconds(n);
    case 'm':
      return milliseconds(n);
    case 'u':
      return microseconds(n);
    case 'n':
      return nanoseconds(n);
    default:
      return {};
  }
}

RpcClock::time_point deadline_after(RpcClock::time_point now, RpcClock::duration left) {
  if (left >= RpcClock::time_point::max() - now) return RpcClock::time_point::max();
  return now + left;
}

void append_frame(std::string& out, std::string_view message) {
  auto n = static_cast<std::uint32_t>(message.size());
  const std::array<char, 5> prefix{0, static_cast<char>(n >> 24), static_cast<char>(n >> 16),
                                   static_cast<char>(n >> 8), static_cast<char>(n)};
  out.append(prefix.data(), prefix.size());
  out.append(message);
}

RpcStatus FrameReader::feed(std::string_view bytes, std::deque<std::string>& out) {
  while (!bytes.empty()) {
    if (!in_body_) {
      auto n = std::min(bytes.size(), kPrefix - prefix_have_);
      std::memcpy(prefix_.data() + prefix_have_, bytes.data(), n);
      prefix_have_ += n;
      bytes.remove_prefix(n);
      if (prefix_have_ < kPrefix) break;
      if (RpcStatus bad = start_body(); !bad.ok()) return bad;
    }
    auto n = std::min(bytes.size(), body_size_ - body_.size());
    body_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (body_.size() == body_size_) {
      out.push_back(std::move(body_));
      body_.clear();
      in_body_ = false;
    }
  }
  return {};
}

RpcStatus FrameReader::start_body() {
  constexpr std::size_t kReserve = 64 << 10;
  prefix_have_ = 0;
  body_size_ = std::size_t{prefix_[1]} << 24 | std::size_t{prefix_[2]} << 16 |
               std::size_t{prefix_[3]} << 8 | prefix_[4];
  if (prefix_[0] != 0)
    return {RpcCode::unimplemented, "the peer sent a compressed message, which was not offered"};
  if (body_size_ > max_message_)
    return {RpcCode::resource_exhausted,
            fmt::format("message of {} bytes is larger than the limit of {}", body_size_,
                        max_message_)};
  in_body_ = true;
  body_.reserve(std::min(body_size_, kReserve));
  return {};
}

}  // namespace plim::net::rpc
