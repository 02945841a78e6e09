#include "net/rpc/codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "net/http.hpp"
#include "net/rpc/status.hpp"

namespace plim::net::rpc {
namespace {

using namespace std::chrono_literals;

TEST(RpcText, encodes_what_a_header_cannot_contain) {
  EXPECT_EQ(percent_encode("plain text"), "plain text");
  EXPECT_EQ(percent_encode("50% of caf\xc3\xa9\n"), "50%25 of caf%C3%A9%0A");
  EXPECT_EQ(percent_encode(" edge blanks "), "%20edge blanks%20");
}

TEST(RpcText, keeps_a_percent_sign_that_starts_no_escape) {
  EXPECT_EQ(percent_decode("100% %zz %4 %41"), "100% %zz %4 A");
}

TEST(RpcText, cuts_long_texts_between_characters) {
  std::string encoded = percent_encode(std::string(4095, 'a') + "\xe2\x82\xac" + "rest");
  EXPECT_EQ(percent_decode(encoded), std::string(4095, 'a') + "\xe2\x82\xac");
  EXPECT_LE(percent_encode(std::string(100'000, '\x80')).size(), 4200u);
}

RC_GTEST_PROP(RpcText, survives_the_round_trip, (const std::string& text)) {
  RC_PRE(text.size() < 1000);
  std::string encoded = percent_encode(text);
  RC_ASSERT(percent_decode(encoded) == text);
  for (char c : encoded) RC_ASSERT(c >= 0x20 && c <= 0x7e);
}

TEST(RpcTimeout, has_at_most_eight_digits_and_is_never_zero) {
  EXPECT_EQ(format_timeout(5s), "5000m");
  EXPECT_EQ(format_timeout(-1s), "1m");
  EXPECT_EQ(format_timeout(99'999'999ms), "99999999m");
  EXPECT_EQ(format_timeout(100'000s), "100000S");
  EXPECT_LE(format_timeout(RpcClock::duration::max()).size(), 9u);
}

TEST(RpcTimeout, reads_every_unit) {
  EXPECT_EQ(parse_timeout("2H"), 2h);
  EXPECT_EQ(parse_timeout("3M"), 3min);
  EXPECT_EQ(parse_timeout("4S"), 4s);
  EXPECT_EQ(parse_timeout("5m"), 5ms);
  EXPECT_EQ(parse_timeout("6u"), 6us);
  EXPECT_EQ(parse_timeout("7n"), 7ns);
  EXPECT_GT(parse_timeout("99999999H"), 800'000h);
}

TEST(RpcTimeout, rejects_invalid_values) {
  for (const char* text : {"", "5", "m", "-5m", "5x", "5 m", "123456789m", "5mm", "0x5m"})
    EXPECT_FALSE(parse_timeout(text)) << text;
}

TEST(RpcDeadline, does_not_overflow) {
  const RpcClock::time_point now{1h};
  EXPECT_EQ(deadline_after(now, kNoDeadline), RpcClock::time_point::max());
  EXPECT_EQ(deadline_after(now, 1s), now + 1s);
}

TEST(RpcFrames, rejects_too_large_and_compressed_messages) {
  std::deque<std::string> out;
  FrameReader small(10);
  EXPECT_EQ(small.feed(std::string("\0\xff\xff\xff\xff", 5), out).code,
            RpcCode::resource_exhausted);
  FrameReader compressed(10);
  EXPECT_EQ(compressed.feed(std::string("\1\0\0\0\1x", 6), out).code, RpcCode::unimplemented);
  EXPECT_TRUE(out.empty());
}

RC_GTEST_PROP(RpcFrames, come_out_as_they_went_in_however_cut,
              (const std::vector<std::string>& messages, std::uint8_t piece_size)) {
  std::string wire;
  for (const auto& message : messages) append_frame(wire, message);
  FrameReader reader(1 << 20);
  std::deque<std::string> out;
  std::string_view rest = wire;
  while (!rest.empty()) {
    auto piece = rest.substr(0, piece_size % 7 + 1u);
    rest.remove_prefix(piece.size());
    RC_ASSERT(reader.feed(piece, out).ok());
  }
  RC_ASSERT(!reader.mid_message());
  RC_ASSERT(std::vector<std::string>(out.begin(), out.end()) == messages);
}

TEST(RpcStatusCodes, are_mapped_to_our_codes) {
  auto code_of = [](RpcCode code) { return RpcStatus{code, "x"}.to_error().code; };
  EXPECT_EQ(code_of(RpcCode::not_found), Code::not_found);
  EXPECT_EQ(code_of(RpcCode::deadline_exceeded), Code::timeout);
  EXPECT_EQ(code_of(RpcCode::unavailable), Code::unavailable);
  EXPECT_EQ(code_of(RpcCode::unauthenticated), Code::unauthorized);
  Error error = RpcStatus{RpcCode::not_found, "no such image"}.to_error();
  EXPECT_EQ(error.message, "no such image (NOT_FOUND)");
  EXPECT_EQ(RpcStatus{RpcCode::data_loss}.to_error().message, "rpc failed: DATA_LOSS");
}

TEST(RpcStatusCodes, unknown_numbers_are_unknown) {
  EXPECT_EQ(code_from_number(16), RpcCode::unauthenticated);
  EXPECT_EQ(code_from_number(17), RpcCode::unknown);
  EXPECT_EQ(code_from_number(-1), RpcCode::unknown);
  EXPECT_EQ(code_from_http_status(503), RpcCode::unavailable);
  EXPECT_EQ(code_from_http_status(404), RpcCode::unimplemented);
}

}  // namespace
}  // namespace plim::net::rpc
