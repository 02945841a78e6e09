#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "kube/testing/scripted_server.hpp"
#include "net/x509.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using plim::testing::ScriptedServer;

net::CertificateRequest request_for(std::string name) {
  const WallTime now = system_clock().wall();
  return {.common_name = std::move(name), .not_before = now - 1h, .not_after = now + 24h};
}

// One authority for both ends.
class ClientTlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const WallTime now = system_clock().wall();
    authority = *net::make_authority("test authority", now - 1h, now + 24h);
    auto request = request_for("api");
    request.dns_names = {"api.example"};
    request.ip_addresses = {"127.0.0.1"};
    request.server = true;
    serving = *net::issue_certificate(authority, request);
  }

  net::KeyPair client_certificate(std::string name) {
    auto request = request_for(std::move(name));
    request.organizations = {"system:masters"};
    request.client = true;
    return *net::issue_certificate(authority, request);
  }

  void start() {
    server.emplace(loop, net::ServerTls{.certificate_pem = serving.certificate_pem,
                                        .key_pem = serving.key_pem,
                                        .client_ca_pem = authority.certificate_pem});
  }

  void TearDown() override {
    if (server) run_to_end(loop, server->stop());
  }

  Config trusting_config() {
    Config config = server->config();
    config.tls.ca_pem = authority.certificate_pem;
    return config;
  }

  Result<json::value> get(const Config& config) {
    PLIM_TRY(client, Client::create(loop.executor(), config));
    return run_to_end(loop, client->get(resources::nodes, {"", "n"}));
  }

  Loop loop;
  net::KeyPair authority, serving;
  std::optional<ScriptedServer> server;
  std::shared_ptr<Client> client;
};

TEST_F(ClientTlsTest, presents_its_certificate_and_token) {
  start();
  const net::KeyPair admin = client_certificate("admin");
  Config config = trusting_config();
  config.tls.certificate_pem = admin.certificate_pem;
  config.tls.key_pem = admin.key_pem;
  config.token = "t0ken";
  server->answer(200, "{}");
  const auto answer = get(config);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(server->last().peer.certificate_user, "admin");
  EXPECT_EQ(server->last().peer.certificate_groups, std::vector<std::string>{"system:masters"});
  EXPECT_EQ(net::bearer_token(server->last().headers), "t0ken");
}

TEST_F(ClientTlsTest, verifies_the_server_by_the_given_name) {
  start();
  Config config = trusting_config();
  config.tls.server_name = "api.example";
  server->answer(200, "{}");
  EXPECT_TRUE(get(config));
  config.tls.server_name = "other.example";
  EXPECT_FALSE(get(config));
}

TEST_F(ClientTlsTest, rejects_an_unknown_server_unless_verification_is_off) {
  start();
  Config config = server->config();
  config.token = "s3cret";
  config.tls.ca_pem =
      net::make_authority("stranger", system_clock().wall() - 1h, system_clock().wall() + 1h)
          ->certificate_pem;
  const auto refused = get(config);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("s3cret"), std::string::npos);
  EXPECT_TRUE(server->requests().empty());
  config.tls.ca_pem.clear();
  config.tls.insecure = true;
  server->answer(200, "{}");
  EXPECT_TRUE(get(config));
}

TEST_F(ClientTlsTest, uses_the_certificate_a_plugin_prints_and_changes_it_with_the_next) {
  start();
  plim::testing::TempDir directory;
  const auto print = [&](std::string name) {
    const net::KeyPair pair = client_certificate(std::move(name));
    const json::object credential{
        {"kind", "ExecCredential"},
        {"apiVersion", "client.authentication.k8s.io/v1"},
        {"status",
         {{"clientCertificateData", pair.certificate_pem}, {"clientKeyData", pair.key_pem}}}};
    ASSERT_TRUE(write_file(directory / "credential", to_json(credential)));
  };
  ASSERT_TRUE(write_file(directory / "login",
                         fmt::format("#!/bin/sh\ncat {}/credential\n", directory.path()),
                         {.mode = 0700}));
  Config config = trusting_config();
  config.exec.emplace();
  config.exec->api_version = "client.authentication.k8s.io/v1";
  config.exec->command = directory / "login";
  config.exec->interactive_mode = "Never";

  print("first");
  server->answer(200, "{}");
  const auto answer = get(config);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(server->last().peer.certificate_user, "first");

  print("second");
  server->answer(401, "");
  server->answer(200, "{}");
  const auto again = run_to_end(loop, client->get(resources::nodes, {"", "n"}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(server->last().peer.certificate_user, "second");
}

}  // namespace
}  // namespace plim::kube
