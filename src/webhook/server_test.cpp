#include "webhook/server.hpp"

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "net/client.hpp"
#include "net/x509.hpp"

namespace plim::webhook {
namespace {

using namespace std::chrono_literals;

net::ServerTls certificate_for(std::string name, std::chrono::hours lifetime) {
  const WallTime now = system_clock().wall();
  const auto authority = net::make_authority(name + "'s authority", now - 1h, now + lifetime);
  net::CertificateRequest request{.common_name = std::move(name), .server = true};
  request.ip_addresses = {"127.0.0.1"};
  request.not_before = now - 1h;
  request.not_after = now + lifetime;
  const auto pair = net::issue_certificate(*authority, request);
  EXPECT_TRUE(pair) << pair.error().message;
  return {.certificate_pem = pair->certificate_pem, .key_pem = pair->key_pem};
}

class AdmissionServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerSettings settings{.listen = "127.0.0.1:0", .certificate = certificate_for("one", 24h)};
    settings.mutators.push_back({"/refuse", [](const kube::AdmissionReview& review) {
                                   kube::AdmissionAnswer out;
                                   out.allowed = review.operation != "CREATE";
                                   out.code = "X1";
                                   return out;
                                 }});
    settings.mutators.push_back({"/patch", [](const kube::AdmissionReview&) {
                                   kube::AdmissionAnswer out;
                                   out.patch.push_back(json::object{{"op", "test"}});
                                   return out;
                                 }});
    const auto fault = [](const kube::AdmissionReview&) -> kube::AdmissionAnswer {
      throw std::runtime_error("broken");
    };
    settings.mutators.push_back({"/fault", fault, OnFault::allow});
    settings.mutators.push_back({"/fault-closed", fault});
    auto listening =
        AdmissionServer::listen(loop.executor(), std::move(settings), registry, system_clock());
    ASSERT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
    connect();
  }

  void TearDown() override {
    if (server) run_to_end(loop, server->drain());
  }

  void connect() {
    net::ClientOptions options;
    options.tls.insecure = true;
    client = *net::Client::create(loop.executor(), "https://" + server->address(), options);
  }

  net::Response send(std::string method, std::string path, std::string body) {
    net::Request request{
        .method = std::move(method), .path = std::move(path), .body = std::move(body)};
    request.headers.set("Content-Type", "application/json");
    auto answer = run_to_end(loop, client->send(std::move(request)));
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? *answer : net::Response{};
  }

  bool exposes(std::string_view line) {
    const std::string text = registry.expose();
    const bool found = text.find(line) != text.npos;
    EXPECT_TRUE(found) << line << "\n" << text;
    return found;
  }

  Loop loop;
  metrics::Registry registry;
  std::unique_ptr<AdmissionServer> server;
  std::shared_ptr<net::Client> client;
};

TEST_F(AdmissionServerTest, passes_each_path_to_its_mutator_and_counts) {
  EXPECT_NE(send("POST", "/refuse", R"({"request":{"operation":"CREATE"}})")
                .body.find("\"allowed\":false"),
            std::string::npos);
  EXPECT_NE(send("POST", "/patch", R"({"request":{}})").body.find("JSONPatch"), std::string::npos);
  EXPECT_EQ(send("POST", "/refuse", R"({"request":{}})").status, 200);
  EXPECT_EQ(send("POST", "/refuse", "x").status, 400);
  EXPECT_EQ(send("DELETE", "/patch", "x").status, 405);
  exposes(R"(plimsoll_webhook_requests_total{path="/refuse",result="rejected",code="X1"} 1)");
  exposes(R"(plimsoll_webhook_requests_total{path="/refuse",result="allowed",code="200"} 1)");
  exposes(R"(plimsoll_webhook_requests_total{path="/refuse",result="error",code="400"} 1)");
  exposes(R"(plimsoll_webhook_requests_total{path="/patch",result="patched",code="200"} 1)");
  exposes(R"(plimsoll_webhook_request_seconds_count{path="/patch"} 1)");
  exposes(R"(plimsoll_webhook_protocol_requests_total{path="/refuse",protocol="http/1.1"} 3)");
}

TEST_F(AdmissionServerTest, allows_pods_whose_mutator_failed_if_configured) {
  const net::Response answer = send("POST", "/fault", R"({"request":{"uid":"u"}})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("response":{"uid":"u","allowed":true,"warnings":[)"),
            std::string::npos)
      << answer.body;
  EXPECT_EQ(answer.body.find("broken"), std::string::npos);
  EXPECT_EQ(send("POST", "/fault-closed", R"({"request":{}})").status, 500);
  exposes(R"(plimsoll_webhook_requests_total{path="/fault",result="error",code="fault"} 1)");
  exposes(R"(plimsoll_webhook_requests_total{path="/fault-closed",result="error",code="500"} 1)");
  exposes("plimsoll_webhook_inflight 0");
}

TEST_F(AdmissionServerTest, keeps_its_certificate_when_the_new_one_is_invalid) {
  net::ServerTls mixed = certificate_for("two", 48h);
  mixed.key_pem = certificate_for("three", 48h).key_pem;
  EXPECT_FALSE(server->set_certificate(mixed));
  EXPECT_FALSE(server->set_certificate({}));
  EXPECT_EQ(send("POST", "/patch", R"({"request":{}})").status, 200);
  EXPECT_TRUE(server->set_certificate(certificate_for("two", 48h)));
  EXPECT_EQ(send("POST", "/patch", R"({"request":{}})").status, 200);  // on the open connection
  connect();
  EXPECT_EQ(send("POST", "/patch", R"({"request":{}})").status, 200);
}

}  // namespace
}  // namespace plim::webhook
