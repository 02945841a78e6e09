// A server's session without a socket: the test controls every byte.
#include "net/h2/server_session.hpp"

#include <gtest/gtest.h>

#include "net/h2/testing/tls_peer.hpp"

namespace plim::net::h2 {
namespace {

class Recorder final : public ServerSession {
 public:
  Recorder() : ServerSession(64 << 10, system_clock()) {}

  using ServerSession::answer;
  using ServerSession::half_head;

  std::vector<StreamPtr> requests, over;
  std::size_t room = 1u << 30;

 private:
  StreamPtr make_stream() override { return std::make_shared<Stream>(); }

  void on_output() override {}

  void on_head(Stream& stream) override { stream.max_body = 64u << 20; }

  void on_answer(Stream&) override {}

  void on_sent(Stream&, std::size_t) override {}

  bool has_room(Stream&, std::size_t bytes) override { return bytes <= room; }

  void on_request(const StreamPtr& stream) override { requests.push_back(stream); }

  void on_over(const StreamPtr& stream) override { over.push_back(stream); }
};

class ServerSessionTest : public ::testing::Test {
 protected:
  ServerSessionTest() { say(std::string(kPreface) + frame(kSettings, 0, 0)); }

  // The frames that the session sends in response to these bytes.
  std::vector<SeenFrame> say(std::string_view bytes) {
    EXPECT_TRUE(session.receive(bytes));
    std::string out;
    EXPECT_TRUE(session.send_into(out, 64u << 20));
    return take_frames(out);
  }

  static std::string begin(std::uint32_t stream) {
    return frame(kHeaders, kEndHeaders, stream, request_fields("POST", "/x"));
  }

  Recorder session;
};

TEST_F(ServerSessionTest, limits_the_total_size_of_bodies_under_way) {
  constexpr std::uint32_t kStreams = 5;
  const std::string piece(16'000, 'x');
  for (std::uint32_t i = 0; i < kStreams; ++i) say(begin(2 * i + 1));
  std::size_t sent = 0, refused = 0;
  for (std::uint32_t i = 0; refused == 0 && sent < 2 * ServerSession::kMaxBuffered; ++i) {
    sent += piece.size();
    for (const SeenFrame& seen : say(frame(kData, 0, 2 * (i % kStreams) + 1, piece))) {
      if (seen.type != kReset) continue;
      ++refused;
      EXPECT_EQ(number_at(seen.payload, 0), 7u);  // refused unhandled: the client may retry
    }
  }
  EXPECT_EQ(refused, 1u);
  EXPECT_LE(sent, ServerSession::kMaxBuffered + piece.size());
  EXPECT_EQ(session.over.size(), 1u);
}

TEST_F(ServerSessionTest, refuses_a_body_for_which_there_is_no_room) {
  session.room = 10;
  EXPECT_TRUE(say(begin(1) + frame(kData, 0, 1, "0123456789")).empty());
  const auto seen = say(frame(kData, 0, 1, "0123456789x"));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].type, kReset);
  EXPECT_EQ(number_at(seen[0].payload, 0), 7u);  // refused unhandled: the client may retry
}

TEST_F(ServerSessionTest, accepts_a_single_body_as_large_as_its_route_allows) {
  const std::string piece(16'000, 'x');
  say(begin(1));
  std::size_t sent = 0;
  for (; sent < ServerSession::kMaxBuffered + 1'000'000; sent += piece.size())
    say(frame(kData, 0, 1, piece));
  say(frame(kData, kEndStream, 1));
  ASSERT_EQ(session.requests.size(), 1u);
  EXPECT_EQ(session.requests[0]->request.body.size(), sent);
}

TEST_F(ServerSessionTest, does_not_deliver_a_request_that_is_reset_at_once) {
  say(begin(1) + frame(kData, kEndStream, 1, "x") + frame(kReset, 0, 1, number32(8)));
  EXPECT_EQ(session.requests.size(), 0u);
  EXPECT_EQ(session.over.size(), 1u);
  EXPECT_EQ(session.streams(), 0u);
}

TEST_F(ServerSessionTest, knows_which_head_is_incomplete) {
  EXPECT_EQ(session.half_head(), 0);
  say(frame(kHeaders, 0, 1, request_fields("GET", "/x")));
  EXPECT_EQ(session.half_head(), 1);
  say(frame(kContinuation, kEndHeaders, 1, field("a", "b")));
  EXPECT_EQ(session.half_head(), 0);
}

TEST_F(ServerSessionTest, keeps_trailers_out_of_the_head) {
  say(begin(1) + frame(kData, 0, 1, "x") +
      frame(kHeaders, kEndHeaders | kEndStream, 1, field("authorization", "me")));
  ASSERT_EQ(session.requests.size(), 1u);
  EXPECT_FALSE(session.requests[0]->request.headers.has("Authorization"));
}

TEST_F(ServerSessionTest, answers_once) {
  say(begin(1) + frame(kData, kEndStream, 1, "x"));
  ASSERT_EQ(session.requests.size(), 1u);
  Stream& stream = *session.requests[0];
  session.answer(stream, {.body = "first"});
  session.answer(stream, {.body = "second"});
  std::string body;
  for (const SeenFrame& seen : say(""))
    if (seen.type == kData) body += seen.payload;
  EXPECT_EQ(body, "first");
  EXPECT_TRUE(stream.closed);
  session.answer(stream, {.body = "third"});
  EXPECT_EQ(say("").size(), 0u);
}

}  // namespace
}  // namespace plim::net::h2
