// Our client and our server together, over every kind of connection.
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;

Task<Reply> describe(Request request) {
  std::string groups;
  for (const std::string& group : request.peer.certificate_groups) groups += group + ";";
  std::string body = fmt::format(
      "{} {} {} {} user={} groups={} bearer={}", request.method, request.path, request.query,
      request.body, request.peer.certificate_user, groups, bearer_token(request.headers));
  co_return text(std::move(body));
}

std::vector<Route> describing() {
  return {{.method = "*", .pattern = "*", .handler = describe}};
}

TEST(RoundTrip, plain) {
  TestServer server(describing());
  TestClient client(server.url() + "/prefix/");
  auto answer = client.post("/x", "hello");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /prefix/x  hello user= groups= bearer=");
  EXPECT_EQ(answer->headers.get("content-type"), "text/plain");
  auto queried = client.send(
      Request{.path = "/y", .query = "a=1", .headers = {{"Authorization", "Bearer t"}}});
  ASSERT_TRUE(queried);
  EXPECT_EQ(queried->body, "GET /prefix/y a=1  user= groups= bearer=t");
}

TEST(RoundTrip, tls) {
  TestServer server(describing(), {.tls = Certificates::get().server_tls()});
  TestClient client(server.url(), {.tls = Certificates::get().client_tls()});
  auto answer = client.post("/x", std::string(200'000, 'x'));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.size(),
            200'000 + std::string("POST /x  user= groups= bearer=").size() + 1);
}

TEST(RoundTrip, mutual_tls_names_user_and_groups) {
  const auto& pki = Certificates::get();
  ServerTls server_tls = pki.server_tls();
  server_tls.client_ca_pem = pki.authority.certificate_pem;
  server_tls.require_client_certificate = true;
  TestServer server(describing(), {.tls = server_tls});
  ClientTls tls = pki.client_tls();
  tls.certificate_pem = pki.client.certificate_pem;
  tls.key_pem = pki.client.key_pem;
  TestClient client(server.url(), {.tls = tls});
  auto answer = client.get("/x");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "GET /x   user=alice groups=admins;system:masters; bearer=");
}

Task<Reply> credentials(Request request) {
  auto [uid, pid] = request.peer.credentials.value_or(std::pair(0u, 0));
  co_return text(fmt::format("{} {} {}", request.peer.address, uid, pid));
}

TEST(RoundTrip, unix_socket_with_peer_credentials) {
  TempDir dir;
  ServerOptions options{.address = "unix://" + dir.path("s.sock")};
  TestServer server({get("/", credentials)}, options);
  TestClient client(server.url());
  auto answer = client.get("/");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, fmt::format("unix {} {}", ::getuid(), ::getpid()));
}

TEST(RoundTrip, ipv6) {
  TestServer server(describing(), {.address = "[::1]:0"});
  TestClient client(server.url());
  auto answer = client.get("/");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
}

TEST(RoundTrip, head_has_no_body_and_keeps_the_connection) {
  TestServer server(describing());
  TestClient client(server.url());
  auto answer = client.send(Request{.method = "HEAD", .path = "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "");
  EXPECT_NE(answer->headers.get("Content-Length"), "0");
  ASSERT_TRUE(client.get("/"));
  EXPECT_EQ(server->connections(), 1u);
}

}  // namespace
}  // namespace plim::net
