#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

Task<Reply> hello(Request) {
  co_return text("hello");
}

// Copies bytes both ways until one side ends.
void tunnel(RawSocket& client, RawSocket& server) {
  std::thread back([&] {
    for (std::string bytes; !(bytes = server.read_some()).empty();) client.send(bytes);
    client.end();
  });
  for (std::string bytes; !(bytes = client.read_some()).empty();) server.send(bytes);
  server.end();
  back.join();
}

TEST(Proxy, tunnels_https_with_credentials) {
  TestServer server({get("/", hello)}, {.tls = Certificates::get().server_tls()});
  std::string asked;
  ScriptedServer proxy([&](RawSocket& socket, int) {
    asked = socket.read_until("\r\n\r\n");
    RawSocket origin(server.port());
    socket.send("HTTP/1.1 200 Connection established\r\n\r\n");
    tunnel(socket, origin);
  });
  {
    ClientOptions options{.tls = Certificates::get().client_tls(),
                          .proxy = fmt::format("http://us%40er:pass@127.0.0.1:{}", proxy.port())};
    TestClient client(server.url(), options);
    auto answer = client.get("/");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
  }
  EXPECT_THAT(asked,
              AllOf(HasSubstr(fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n", server.port())),
                    HasSubstr("Proxy-Authorization: Basic " + base64_encode("us@er:pass"))));
}

TEST(Proxy, an_error_of_the_proxy_is_reported_without_credentials) {
  ScriptedServer proxy([](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    socket.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  });
  TestClient client("https://127.0.0.1:1",
                    {.proxy = fmt::format("http://user:secret@127.0.0.1:{}", proxy.port())});
  auto answer = client.get("/");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("proxy 127.0.0.1"), HasSubstr("407"),
                                            ::testing::Not(HasSubstr("secret"))));
}

TEST(Proxy, gets_the_whole_url_of_http_origins) {
  ScriptedServer proxy([](RawSocket& socket, int) {
    std::string head = socket.read_until("\r\n\r\n");
    std::string line = head.substr(0, head.find('\r'));
    socket.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", line.size(), line));
  });
  TestClient client("http://origin.example:8080/prefix", {.proxy = proxy.url()});
  EXPECT_EQ(client.get("/x").value().body, "GET http://origin.example:8080/prefix/x HTTP/1.1");
}

TEST(Proxy, other_schemes_are_rejected_at_start) {
  Loop loop;
  auto client = Client::create(loop.executor(), "https://a", {.proxy = "https://u:p@proxy:1"});
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, ::testing::Not(HasSubstr("u:p")));
}

TEST(NoProxy, follows_go) {
  auto matches = [](std::string_view list, std::string_view host, std::uint16_t port = 443) {
    return no_proxy_matches(list, host, port);
  };
  EXPECT_TRUE(matches("*", "anything"));
  EXPECT_TRUE(matches("example.com", "example.com"));
  EXPECT_TRUE(matches("example.com", "www.example.com"));
  EXPECT_FALSE(matches("example.com", "notexample.com"));
  EXPECT_FALSE(matches(".example.com", "example.com"));
  EXPECT_TRUE(matches(".example.com", "www.example.com"));
  EXPECT_TRUE(matches("*.example.com", "www.example.com"));
  EXPECT_TRUE(matches(" a , EXAMPLE.com ,", "Example.COM"));
  EXPECT_TRUE(matches("example.com:8443", "example.com", 8443));
  EXPECT_FALSE(matches("example.com:8443", "example.com", 443));
  EXPECT_TRUE(matches("10.0.0.0/8", "10.1.2.3"));
  EXPECT_FALSE(matches("10.0.0.0/8", "11.1.2.3"));
  EXPECT_FALSE(matches("10.0.0.0/8", "10.example.com"));
  EXPECT_TRUE(matches("192.168.1.1", "192.168.1.1"));
  EXPECT_TRUE(matches("192.168.1.1:80", "192.168.1.1", 80));
  EXPECT_TRUE(matches("::1", "::1"));
  EXPECT_TRUE(matches("[::1]:443", "[::1]"));
  EXPECT_TRUE(matches("fd00::/8", "fd00::1"));
  EXPECT_FALSE(matches("", "example.com"));
  EXPECT_FALSE(matches("bad/cidr,,:80", "example.com"));
}

TEST(NoProxy, environment_decides_by_scheme) {
  for (const char* name : {"HTTP_PROXY", "http_proxy", "https_proxy", "no_proxy"}) ::unsetenv(name);
  ::setenv("HTTPS_PROXY", "proxy.example:3128", 1);
  ::setenv("NO_PROXY", "internal.example", 1);
  EXPECT_EQ(proxy_from_environment("https://api.example"), "http://proxy.example:3128");
  EXPECT_EQ(proxy_from_environment("http://api.example"), "");
  EXPECT_EQ(proxy_from_environment("https://x.internal.example"), "");
  EXPECT_EQ(proxy_from_environment("https://127.0.0.1:6443"), "");
  EXPECT_EQ(proxy_from_environment("https://localhost:6443"), "");
  ::unsetenv("HTTPS_PROXY");
  ::unsetenv("NO_PROXY");
}

}  // namespace
}  // namespace plim::net
