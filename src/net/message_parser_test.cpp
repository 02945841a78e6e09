#include "net/message_parser.hpp"

#include <gtest/gtest.h>

namespace plim::net {
namespace {

// The body of a response that arrives in pieces of `portion` bytes.
std::string body_in_portions(std::string_view text, std::size_t portion) {
  auto parser = ResponseParser::make(4096, false);
  InputBuffer in;
  std::string body;
  while (!text.empty()) {
    std::string_view piece = text.substr(0, portion);
    text.remove_prefix(piece.size());
    piece.copy(in.prepare(piece.size()).data(), piece.size());
    in.commit(piece.size());
    for (std::size_t before = in.size() + 1; in.size() < before && !parser->done();) {
      before = in.size();
      EXPECT_TRUE(parser->feed(in));
      body += parser->take_body();
    }
  }
  EXPECT_TRUE(parser->done()) << portion;
  return body;
}

TEST(MessageParser, accepts_messages_cut_anywhere) {
  std::string_view text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: t\r\n\r\n";
  for (std::size_t portion = 1; portion <= text.size(); ++portion)
    EXPECT_EQ(body_in_portions(text, portion), "abcd") << portion;
}

// Beast 1.81 asserts on this one if its last chunk arrives in two halves.
TEST(MessageParser, reads_an_empty_chunked_body_byte_by_byte) {
  EXPECT_EQ(body_in_portions("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1),
            "");
}

}  // namespace
}  // namespace plim::net
