#include "flow/protocol.hpp"

#include <gtest/gtest.h>

namespace plim::flow {
namespace {

TEST(Protocol, frames_arrive_whole_however_they_are_cut) {
  SliceReport report{.key = {1, 2},
                     .attempt = 3,
                     .outcome = Outcome::failed,
                     .retries = 4,
                     .records_in = 5,
                     .records_out = 6,
                     .bytes = 7,
                     .micros = 8,
                     .error = "why",
                     .printed = std::string("a\0b", 3)};
  std::string bytes = encode(report) + encode(Heartbeat{.rss = 9}) + encode_shutdown();
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    FrameSplitter splitter;
    std::vector<FrameType> types;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      splitter.feed(std::string_view(bytes).substr(at, piece));
      while (true) {
        auto frame = splitter.next();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        types.push_back((*frame)->type);
        if ((*frame)->type != FrameType::report) continue;
        auto back = decode_report((*frame)->payload);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->key, report.key);
        EXPECT_EQ(back->error, "why");
        EXPECT_EQ(back->printed, report.printed);
        EXPECT_EQ(back->micros, 8u);
      }
    }
    EXPECT_EQ(types, (std::vector{FrameType::report, FrameType::heartbeat, FrameType::shutdown}));
  }
}

TEST(Protocol, an_invalid_frame_is_rejected) {
  FrameSplitter http;
  http.feed("GET /health HTTP/1.1\r\n");
  EXPECT_FALSE(http.next());
  EXPECT_FALSE(decode_report("short"));
  EXPECT_FALSE(decode_dispatch(""));
  EXPECT_FALSE(decode_hello(std::string(9, '\0')));
}

TEST(Protocol, a_slice_keeps_all_fields) {
  Dispatch there{.slice = {.key = {3, 4},
                           .id = "id",
                           .request = "{}",
                           .created = WallTime(Nanos(77)),
                           .attempt = 5}};
  std::string bytes = encode(there);
  auto back = decode_dispatch(std::string_view(bytes).substr(5));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->slice.key, there.slice.key);
  EXPECT_EQ(back->slice.created, there.slice.created);
  EXPECT_EQ(back->slice.attempt, 5u);
}

}  // namespace
}  // namespace plim::flow
