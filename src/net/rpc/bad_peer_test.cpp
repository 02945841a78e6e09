// Peers that break the rules: nothing may crash, hang or leak, and the status names the reason.
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/rpc/testing/rpc_peers.hpp"

namespace plim::net::rpc {
namespace {

using namespace std::chrono_literals;

class RpcBadServer : public RpcTest {
 protected:
  Task<RpcReply> call() {
    auto bad = Channel::unix_socket(loop_.executor(), dir_ / "bad");
    return call_on(std::move(bad));
  }

  static Task<RpcReply> call_on(std::shared_ptr<Channel> channel) {
    RpcReply reply = co_await channel->call("/t/x", "request", 5s);
    co_return reply;
  }

  // The result of a call to a server that sends `bytes` after the request and then closes.
  RpcReply answer_of(const std::string& bytes) {
    ScriptedServer server(dir_ / "bad", [bytes = h2::frame(4, 0, 0) + bytes](int fd) {
      read_request(fd);
      write_all(fd, bytes);
      ::shutdown(fd, SHUT_WR);
      read_until_closed(fd);
    });
    RpcReply reply = run_to_end(loop_, call());
    ::unlink((dir_ / "bad").c_str());
    return reply;
  }
};

TEST_F(RpcBadServer, valid_bytes_are_understood) {
  RpcReply reply =
      answer_of(answer_headers(1) + answer_data(1, grpc_message("hi")) + answer_trailers(1));
  EXPECT_TRUE(reply.status.ok()) << reply.status.message;
  EXPECT_EQ(reply.body, "hi");
}

TEST_F(RpcBadServer, messages_cut_into_any_frames_are_put_together) {
  std::string bytes = answer_headers(1);
  for (char c : grpc_message("cut")) bytes += answer_data(1, std::string(1, c));
  EXPECT_EQ(answer_of(bytes + answer_trailers(1)).body, "cut");
  std::string padded = std::string(1, '\3') + grpc_message("pad") + std::string(3, '\0');
  EXPECT_EQ(answer_of(answer_headers(1) + h2::frame(0, 8, 1, padded) + answer_trailers(1)).body,
            "pad");
}

TEST_F(RpcBadServer, trailers_only_carry_status_and_text) {
  RpcReply reply = answer_of(h2::frame(
      1, 5, 1,
      h2::field(":status", "200") + h2::field("content-type", "application/grpc") +
          h2::field("grpc-status", "5") + h2::field("grpc-message", " no%20caf%C3%A9 % ")));
  EXPECT_EQ(reply.status.code, RpcCode::not_found);
  EXPECT_EQ(reply.status.message, " no caf\xc3\xa9 % ");
}

TEST_F(RpcBadServer, an_answer_without_status_is_unknown) {
  RpcReply reply = answer_of(answer_headers(1) + h2::frame(0, 1, 1, grpc_message("hi")));
  EXPECT_EQ(reply.status.code, RpcCode::unknown);
  EXPECT_EQ(reply.status.message, "the response has no grpc-status");
}

TEST_F(RpcBadServer, an_undefined_status_is_unknown) {
  std::string start = answer_headers(1) + answer_data(1, grpc_message("hi"));
  EXPECT_EQ(answer_of(start + answer_trailers(1, "99")).status.code, RpcCode::unknown);
  EXPECT_EQ(answer_of(start + answer_trailers(1, "zero")).status.code, RpcCode::unknown);
}

TEST_F(RpcBadServer, an_http_error_is_reported_as_such) {
  RpcReply reply = answer_of(
      h2::frame(1, 4, 1, h2::field(":status", "503") + h2::field("content-type", "text/html")) +
      h2::frame(0, 1, 1, "<html>"));
  EXPECT_EQ(reply.status.code, RpcCode::unavailable);
  EXPECT_NE(reply.status.message.find("503"), std::string::npos);
  reply = answer_of(
      h2::frame(1, 4, 1, h2::field(":status", "200") + h2::field("content-type", "text/html")) +
      h2::frame(0, 1, 1, "<html>"));
  EXPECT_EQ(reply.status.code, RpcCode::unknown);
  EXPECT_NE(reply.status.message.find("text/html"), std::string::npos);
}

TEST_F(RpcBadServer, an_early_hint_is_not_the_answer) {
  RpcReply reply = answer_of(h2::frame(1, 4, 1, h2::field(":status", "103")) + answer_headers(1) +
                             answer_data(1, grpc_message("hi")) + answer_trailers(1));
  EXPECT_TRUE(reply.status.ok()) << reply.status.message;
}

TEST_F(RpcBadServer, zero_or_two_messages_are_not_a_unary_response) {
  RpcReply none = answer_of(answer_headers(1) + answer_trailers(1));
  EXPECT_EQ(none.status.code, RpcCode::internal);
  RpcReply two = answer_of(answer_headers(1) + answer_data(1, grpc_message("a")) +
                           answer_data(1, grpc_message("b")) + answer_trailers(1));
  EXPECT_EQ(two.status.message, "more than one message in the response");
}

TEST_F(RpcBadServer, dying_in_a_message_is_unavailable) {
  std::string half = answer_data(1, grpc_message("half").substr(0, 7));
  RpcReply reply = answer_of(answer_headers(1) + half);
  EXPECT_EQ(reply.status.code, RpcCode::unavailable);
  EXPECT_EQ(reply.status.message, "the peer closed the connection");
  reply = answer_of(answer_headers(1) + half + answer_trailers(1));
  EXPECT_EQ(reply.status.message, "the response ends inside a message");
}

TEST_F(RpcBadServer, an_announced_size_of_4_gigabytes_is_too_large) {
  RpcReply reply =
      answer_of(answer_headers(1) + answer_data(1, std::string("\0\xff\xff\xff\xff", 5)));
  EXPECT_EQ(reply.status.code, RpcCode::resource_exhausted);
}

TEST_F(RpcBadServer, a_compressed_message_is_rejected) {
  RpcReply reply = answer_of(answer_headers(1) + answer_data(1, std::string("\1\0\0\0\1x", 6)));
  EXPECT_EQ(reply.status.code, RpcCode::unimplemented);
}

TEST_F(RpcBadServer, a_reset_keeps_its_meaning) {
  auto reset = [this](char code) {
    return answer_of(h2::frame(3, 0, 1, std::string(3, '\0') + code)).status.code;
  };
  EXPECT_EQ(reset(8), RpcCode::cancelled);
  EXPECT_EQ(reset(11), RpcCode::resource_exhausted);
  EXPECT_EQ(reset(2), RpcCode::internal);
}

TEST_F(RpcBadServer, http1_and_garbage_are_rejected) {
  for (const std::string& bytes : {std::string("HTTP/1.1 400 Bad Request\r\n\r\n<html></html>"),
                                   std::string(200, '\xee'), std::string("\0\0", 2)}) {
    ScriptedServer server(dir_ / "bad", [bytes](int fd) {
      write_all(fd, bytes);
      ::shutdown(fd, SHUT_WR);
      read_until_closed(fd);
    });
    RpcReply reply = run_to_end(loop_, call());
    EXPECT_EQ(reply.status.code, RpcCode::unavailable) << reply.status.message;
    ::unlink((dir_ / "bad").c_str());
  }
}

TEST_F(RpcBadServer, a_call_refused_by_a_go_away_is_retried_elsewhere) {
  int connection = 0;
  ScriptedServer server(dir_ / "bad", [&connection](int fd) {
    read_request(fd);
    write_all(fd, h2::frame(4, 0, 0));
    if (++connection < 3) return write_all(fd, h2::frame(7, 0, 0, std::string(8, '\0')));
    write_all(fd, answer_headers(1) + answer_data(1, grpc_message("third")) + answer_trailers(1));
    read_until_closed(fd);
  });
  auto channel = Channel::unix_socket(loop_.executor(), dir_ / "bad");
  RpcReply reply = run_to_end(loop_, call_on(channel));
  channel->close();
  EXPECT_TRUE(reply.status.ok()) << reply.status.message;
  EXPECT_EQ(reply.body, "third");
}

class RpcBadClient : public RpcTest {
 protected:
  Task<void> connections_are(std::size_t count) {
    return until([this, count] { return test_.server->connections() == count; });
  }

  // The headers that the server sends in response to `bytes` before it closes, or once we stop
  // sending.
  std::string answer_to(const std::string& bytes) {
    int fd = connect_to(path_);
    write_all(fd, bytes);
    run(connections_are(1));
    run(pause(2ms));
    ::shutdown(fd, SHUT_WR);
    run(connections_are(0));
    std::string answer = h2::headers_in(read_until_closed(fd));
    ::close(fd);
    return answer;
  }

  // Whether the server has closed the connection. What it sent before is dropped.
  static bool has_ended(int fd) {
    char buffer[4096];
    ssize_t n = 1;
    while (n > 0) n = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    return n == 0 || errno == ECONNRESET;
  }

  Task<void> echo_works() {
    RpcReply reply = co_await channel_->call("/t/echo", "alive", 5s);
    EXPECT_TRUE(reply.status.ok()) << reply.status.message;
  }

  const std::string hello_ = std::string(h2::kPreface) + h2::frame(4, 0, 0);
};

TEST_F(RpcBadClient, a_connection_without_http2_is_closed) {
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                                   std::string(300, '\xff'), hello_ + std::string(100, '\x7f')}) {
    int fd = connect_to(path_);
    write_all(fd, bytes);
    run(until([fd] { return has_ended(fd); }));
    ::close(fd);
  }
  run(echo_works());
}

TEST_F(RpcBadClient, half_a_preface_is_closed_when_its_client_ends) {
  int fd = connect_to(path_);
  write_all(fd, "P");
  run(connections_are(1));
  EXPECT_FALSE(has_ended(fd));
  ::shutdown(fd, SHUT_WR);
  run(until([fd] { return has_ended(fd); }));
  ::close(fd);
  run(connections_are(0));
}

TEST_F(RpcBadClient, a_request_that_is_not_grpc_gets_an_http_status) {
  std::string get = h2::frame(1, 5, 1,
                              h2::field(":method", "GET") + h2::field(":scheme", "http") +
                                  h2::field(":path", "/") + h2::field(":authority", "x"));
  EXPECT_NE(answer_to(hello_ + get).find(":status: 405"), std::string::npos);
}

TEST_F(RpcBadClient, zero_two_or_half_messages_are_rejected) {
  for (const std::string& body :
       {std::string(), grpc_message("a") + grpc_message("b"), grpc_message("half").substr(0, 6)}) {
    std::string bytes = hello_ + request_headers(1, "/t/echo") + h2::frame(0, 1, 1, body);
    EXPECT_NE(answer_to(bytes).find("expected one whole message"), std::string::npos);
  }
}

TEST_F(RpcBadClient, leaving_in_the_middle_ends_the_handler) {
  int fd = connect_to(path_);
  write_all(fd, hello_ + request_headers(1, "/t/sleep") + h2::frame(0, 1, 1, grpc_message("9999")));
  run(until([this] { return test_.running == 1; }));
  ::close(fd);
  run(until([this] { return test_.running == 0; }));
  run(connections_are(0));
}

}  // namespace
}  // namespace plim::net::rpc
