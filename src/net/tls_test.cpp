// What TLS rejects, with which messages; and other TLS implementations as peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"
#include "net/tls_failure.hpp"

namespace plim::net {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

Task<Reply> user_name(Request request) {
  co_return text("user " + request.peer.certificate_user);
}

std::vector<Route> naming_users() {
  return {get("/", user_name)};
}

std::string refusal(const std::string& url, ClientTls tls) {
  TestClient client(url, {.tls = std::move(tls)});
  auto answer = client.get("/");
  return answer ? "accepted" : answer.error().message;
}

TEST(Tls, names_what_is_wrong_with_a_certificate) {
  const auto& pki = Certificates::get();
  TestServer server(naming_users(), {.tls = pki.server_tls()});
  auto other = make_authority("other", days_from_now(-1), days_from_now(1)).value();
  EXPECT_THAT(refusal(server.url(), {.ca_pem = other.certificate_pem}),
              AllOf(HasSubstr("certificate of 127.0.0.1 not accepted"), HasSubstr("issuer")));
  EXPECT_THAT(refusal(server.url(), {}), HasSubstr("not accepted"));  // the system's authorities
  ClientTls wrong_name = pki.client_tls();
  wrong_name.server_name = "wrong.example";
  EXPECT_THAT(refusal(server.url(), wrong_name),
              AllOf(HasSubstr("wrong.example"), HasSubstr("hostname mismatch")));
  ClientTls right_name = pki.client_tls();
  right_name.server_name = "api.example";
  EXPECT_EQ(refusal(server.url(), right_name), "accepted");
  EXPECT_EQ(refusal(server.url(), {.insecure = true}), "accepted");
}

TEST(Tls, rejects_an_expired_certificate) {
  const auto& pki = Certificates::get();
  auto expired = Certificates::issue(pki.authority, {.common_name = "old",
                                                     .ip_addresses = {"127.0.0.1"},
                                                     .server = true,
                                                     .not_before = days_from_now(-5),
                                                     .not_after = days_from_now(-1)});
  TestServer server(naming_users(), {.tls = ServerTls{.certificate_pem = expired.certificate_pem,
                                                      .key_pem = expired.key_pem}});
  EXPECT_THAT(refusal(server.url(), pki.client_tls()), HasSubstr("expired"));
}

TEST(Tls, a_missing_or_foreign_client_certificate_is_reported) {
  const auto& pki = Certificates::get();
  ServerTls tls = pki.server_tls();
  tls.client_ca_pem = pki.authority.certificate_pem;
  tls.require_client_certificate = true;
  TestServer server(naming_users(), {.tls = tls});
  EXPECT_THAT(refusal(server.url(), pki.client_tls()), HasSubstr("certificate required"));
  auto other = make_authority("other", days_from_now(-1), days_from_now(1)).value();
  auto foreign = Certificates::issue(other, {.common_name = "mallory", .client = true});
  ClientTls client = pki.client_tls();
  client.certificate_pem = foreign.certificate_pem;
  client.key_pem = foreign.key_pem;
  EXPECT_THAT(refusal(server.url(), client), HasSubstr("unknown ca"));
}

TEST(Tls, a_failure_is_distinguished_from_a_lost_connection) {
  const auto& pki = Certificates::get();
  auto is_of_tls = [](const std::string& url, ClientTls with) {
    TestClient client(url, {.tls = std::move(with)});
    return is_tls_failure(client.get("/").error());
  };
  auto at = [](std::uint16_t port) { return "https://127.0.0.1:" + std::to_string(port); };
  ServerTls strict = pki.server_tls();
  strict.client_ca_pem = pki.authority.certificate_pem;
  strict.require_client_certificate = true;
  TestServer server(naming_users(), {.tls = strict});
  EXPECT_TRUE(is_of_tls(server.url(), {})) << "its authority is not known";
  EXPECT_TRUE(is_of_tls(server.url(), pki.client_tls())) << "it requires a certificate";
  TestServer plain(naming_users());
  EXPECT_TRUE(is_of_tls(at(plain.port()), pki.client_tls())) << "it does not speak TLS";

  std::uint16_t nobody = 0;
  {
    ScriptedServer hangs_up([](RawSocket& peer, int) { peer.read_some(); });
    nobody = hangs_up.port();
    EXPECT_FALSE(is_of_tls(at(nobody), pki.client_tls()));
  }
  EXPECT_FALSE(is_of_tls(at(nobody), pki.client_tls()));
}

TEST(Tls, an_optional_client_certificate_may_be_omitted) {
  const auto& pki = Certificates::get();
  ServerTls tls = pki.server_tls();
  tls.client_ca_pem = pki.authority.certificate_pem;
  TestServer server(naming_users(), {.tls = tls});
  TestClient client(server.url(), {.tls = pki.client_tls()});
  EXPECT_EQ(client.get("/").value().body, "user ");
}

TEST(Tls, rotated_certificates_serve_new_connections) {
  const auto& pki = Certificates::get();
  TestServer server(naming_users(), {.tls = pki.server_tls()});
  TestClient client(server.url(), {.tls = pki.client_tls()});
  ASSERT_TRUE(client.get("/"));
  auto other = make_authority("next", days_from_now(-1), days_from_now(1)).value();
  auto next = Certificates::issue(
      other, {.common_name = "server", .ip_addresses = {"127.0.0.1"}, .server = true});
  ASSERT_TRUE(server->set_tls({.certificate_pem = next.certificate_pem, .key_pem = next.key_pem}));
  ASSERT_TRUE(client.get("/")) << "the old connection continues";
  client.client->close_idle();
  EXPECT_FALSE(client.get("/"));
  ASSERT_TRUE(client.client->set_tls({.ca_pem = other.certificate_pem}));
  EXPECT_TRUE(client.get("/"));
  EXPECT_FALSE(server->set_tls({.certificate_pem = "nonsense", .key_pem = next.key_pem}));
}

TEST(Tls, a_new_client_certificate_is_presented_from_the_next_request) {
  const auto& pki = Certificates::get();
  ServerTls serving = pki.server_tls();
  serving.client_ca_pem = pki.authority.certificate_pem;
  TestServer server(naming_users(), {.tls = serving});
  const auto tls_of = [&](std::string name) {
    ClientTls out = pki.client_tls();
    const KeyPair pair =
        Certificates::issue(pki.authority, {.common_name = std::move(name), .client = true});
    out.certificate_pem = pair.certificate_pem;
    out.key_pem = pair.key_pem;
    return out;
  };
  TestClient client(server.url(), {.tls = tls_of("first")});
  EXPECT_EQ(client.get("/").value().body, "user first");
  ASSERT_TRUE(client.client->set_tls(tls_of("second")));
  EXPECT_EQ(client.get("/").value().body, "user second");
}

TEST(Tls, mismatched_keys_are_rejected_at_start) {
  const auto& pki = Certificates::get();
  Loop loop;
  ServerOptions options{.tls = ServerTls{.certificate_pem = pki.server.certificate_pem,
                                         .key_pem = pki.client.key_pem}};
  auto server = Server::listen({loop.executor()}, options, {});
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("private key"));
}

TEST(Tls, openssl_s_client_gets_an_answer_and_no_old_protocol_or_suite) {
  const auto& pki = Certificates::get();
  TestServer server(naming_users(), {.tls = pki.server_tls()});
  TempDir dir;
  std::string ca = dir.write("ca.pem", pki.authority.certificate_pem);
  std::string request =
      dir.write("request", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::string s_client = fmt::format(
      "openssl s_client -connect 127.0.0.1:{} -CAfile {} -quiet "
      "-verify_return_error -ign_eof",
      server.port(), ca);
  EXPECT_THAT(run_command(s_client + " -tls1_3 <" + request), HasSubstr("user "));
  EXPECT_THAT(run_command(s_client + " -tls1_2 <" + request), HasSubstr("user "));
  EXPECT_THAT(run_command(s_client + " -tls1_2 -cipher ECDHE+CHACHA20 <" + request),
              HasSubstr("user "));
  for (const char* suites : {"ECDHE+AES+SHA1", "ECDHE+SHA256:ECDHE+SHA384:!AEAD", "RSA", "DHE"})
    EXPECT_THAT(run_command(fmt::format("{} -tls1_2 -cipher {} <{}", s_client, suites, request)),
                ::testing::Not(HasSubstr("user ")));
  EXPECT_THAT(run_command(s_client + " -tls1_1 -cipher ALL@SECLEVEL=0 <" + request),
              ::testing::Not(HasSubstr("user ")));
}

TEST(Tls, python_serves_our_client) {
  const auto& pki = Certificates::get();
  TempDir dir;
  dir.write("pair.pem", pki.server.certificate_pem + pki.server.key_pem);
  std::string script = dir.write("serve.py", R"(
import http.server, ssl, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body.upper())
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain(sys.argv[1])
s.socket = c.wrap_socket(s.socket, server_side=True)
print(s.server_port, flush=True)
s.handle_request()
)");
  std::FILE* python = ::popen(("python3 " + script + " " + dir.path("pair.pem")).c_str(), "r");
  int port = 0;
  ASSERT_EQ(std::fscanf(python, "%d", &port), 1);
  {
    TestClient client(fmt::format("https://127.0.0.1:{}", port), {.tls = pki.client_tls()});
    auto answer = client.post("/", "hello");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "HELLO");
  }
  ::pclose(python);
}

}  // namespace
}  // namespace plim::net
