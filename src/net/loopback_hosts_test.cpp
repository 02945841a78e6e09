#include "net/loopback_hosts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using ::testing::HasSubstr;
using testing::RawSocket;
using ::testing::StartsWith;
using testing::TestServer;

Task<Reply> secret(Request) {
  co_return testing::text("secret");
}

std::string ask_as(TestServer& server, std::string_view version, std::string_view headers) {
  RawSocket socket(server.port());
  socket.send(fmt::format("GET /state HTTP/{}\r\n{}Connection: close\r\n\r\n", version, headers));
  return socket.read_all();
}

std::string ask_for(TestServer& server, std::string_view host) {
  return ask_as(server, "1.1", fmt::format("Host: {}\r\n", host));
}

TEST(LoopbackHosts, other_names_than_loopback_are_misdirected) {
  TestServer server(only_for_loopback_hosts("127.0.0.1:0", {testing::get("/state", secret)}));
  for (std::string_view host :
       {"attacker.example", "attacker.example:9101", "127.0.0.1.attacker.example", "localhost.com",
        "192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0", "notlocalhost", "[", "128.0.0.1"}) {
    const std::string answer = ask_for(server, host);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 421 ")) << host;
    EXPECT_THAT(answer, HasSubstr("does not answer for the host")) << host;
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("secret"))) << host;
  }
}

TEST(LoopbackHosts, names_of_loopback_are_served) {
  TestServer server(only_for_loopback_hosts("127.0.0.1:0", {testing::get("/state", secret)}));
  for (std::string_view host : {"localhost", "LocalHost:9101", "localhost.", "a.localhost:1",
                                "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:9101", ""})
    EXPECT_THAT(ask_for(server, host), StartsWith("HTTP/1.1 200 ")) << host;
  EXPECT_THAT(ask_as(server, "1.0", ""), HasSubstr("secret"));
}

TEST(LoopbackHosts, servers_that_others_reach_have_any_name) {
  for (std::string_view address : {"0.0.0.0:0", ":0", "192.0.2.1:80", "node.example:80"}) {
    TestServer server(only_for_loopback_hosts(address, {testing::get("/state", secret)}));
    EXPECT_THAT(ask_for(server, "node.example:80"), HasSubstr("secret")) << address;
  }
  for (std::string_view address : {"localhost:0", "127.9.9.9:0", "[::1]:0"}) {
    TestServer server(only_for_loopback_hosts(address, {testing::get("/state", secret)}));
    EXPECT_THAT(ask_for(server, "node.example:80"), StartsWith("HTTP/1.1 421 ")) << address;
  }
}

}  // namespace
}  // namespace plim::net
