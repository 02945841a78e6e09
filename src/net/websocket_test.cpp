#include "net/websocket.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using Side = WebSocketDecoder::Side;

TEST(WebSocket, accepts_the_key_of_the_rfc) {
  EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocket, decodes_the_frames_of_the_rfc) {
  WebSocketDecoder server(Side::server);
  server.feed("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  auto hello = server.next().value();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->payload, "Hello");
  WebSocketDecoder client(Side::client);
  client.feed(std::string_view("\x01\x03\x48\x65\x6c", 5));
  EXPECT_FALSE(client.next().value());
  client.feed("\x89\x01x");  // a ping may come between fragments
  EXPECT_EQ(client.next().value()->opcode, WebSocketOpcode::ping);
  client.feed(std::string_view("\x80\x02\x6c\x6f", 4));
  auto joined = client.next().value();
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->payload, "Hello");
  EXPECT_EQ(joined->opcode, WebSocketOpcode::text);
}

RC_GTEST_PROP(WebSocket, round_trips_in_any_portions,
              (std::vector<std::string> payloads, std::uint32_t mask)) {
  std::string bytes;
  for (auto& payload : payloads) {
    for (int doubled = 0; doubled < 6; ++doubled) payload += payload;
    bytes += format_websocket_frame(WebSocketOpcode::binary, payload, mask);
  }
  WebSocketDecoder decoder(Side::server);
  std::size_t decoded = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    decoder.feed(std::string_view(bytes).substr(at, 7));
    for (;;) {
      auto message = decoder.next().value();
      if (!message) break;
      RC_ASSERT(message->payload == payloads.at(decoded++));
    }
  }
  RC_ASSERT(decoded == payloads.size());
}

TEST(WebSocket, rejects_broken_frames) {
  auto refused = [](std::string bytes, Side side = Side::client) {
    WebSocketDecoder decoder(side, 1000);
    decoder.feed(bytes);
    auto result = decoder.next();
    return result ? Code::unknown : result.error().code;
  };
  EXPECT_EQ(refused("\xc1\x01x"), Code::bad_request);                // reserved bit
  EXPECT_EQ(refused("\x83\x01x"), Code::bad_request);                // unknown opcode
  EXPECT_EQ(refused("\x80\x01x"), Code::bad_request);                // continues nothing
  EXPECT_EQ(refused("\x89\x7e\x01\x01"), Code::bad_request);         // long ping
  EXPECT_EQ(refused("\x81\x01x", Side::server), Code::bad_request);  // client without a mask
  EXPECT_EQ(refused("\x82\x7e\x10\x01"), Code::too_large);
  EXPECT_EQ(refused("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), Code::too_large);
}

Task<void> echo_frames(std::unique_ptr<RawStream> stream) {
  WebSocketDecoder decoder(Side::server);
  for (;;) {
    auto bytes = co_await stream->read();
    if (!bytes || bytes->empty()) co_return;
    decoder.feed(*bytes);
    auto message = decoder.next();
    if (!message || !*message) continue;
    std::string frame = format_websocket_frame(WebSocketOpcode::text, (*message)->payload);
    if (auto written = co_await stream->write(std::move(frame)); !written) co_return;
  }
}

Task<Reply> upgrade(Request request) {
  auto headers = websocket_answer(request);
  if (!headers) co_return text(headers.error().message, 400);
  Upgraded upgraded;
  upgraded.headers = *headers;
  upgraded.run = echo_frames;
  co_return upgraded;
}

Task<std::string> converse(Client& client) {
  Request request;
  request.path = "/ws";
  request.headers = websocket_request("dGhlIHNhbXBsZSBub25jZQ==");
  auto stream = co_await client.upgrade(std::move(request));
  if (!stream) co_return stream.error().message;
  std::string frame = format_websocket_frame(WebSocketOpcode::text, "hello", 0x12345678);
  auto written = co_await (*stream)->write(std::move(frame));
  WebSocketDecoder decoder(Side::client);
  for (;;) {
    auto bytes = co_await (*stream)->read();
    if (!bytes || bytes->empty()) co_return "closed";
    decoder.feed(*bytes);
    auto message = decoder.next();
    if (message && *message) co_return (*message)->payload;
  }
}

TEST(WebSocket, runs_over_an_upgraded_tls_connection) {
  TestServer server({get("/ws", upgrade)}, {.tls = Certificates::get().server_tls()});
  TestClient client(server.url(), {.tls = Certificates::get().client_tls()});
  EXPECT_EQ(run_to_end(client.loop, converse(*client.client)), "hello");
  auto refused = client.get("/ws");
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 400);
}

}  // namespace
}  // namespace plim::net
