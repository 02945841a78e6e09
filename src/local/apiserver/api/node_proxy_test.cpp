// Requests that the API passes on to a node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/testing/api_fixture.hpp"
#include "net/server.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace res = kube::resources;

struct Keys {
  Keys() {
    const WallTime now = system_clock().wall();
    authority = *net::make_authority("ca", now - 1h, now + 1h);
    net::CertificateRequest request{.common_name = "n1"};
    request.ip_addresses = {"127.0.0.1"};
    request.server = true;
    request.not_before = now - 1h;
    request.not_after = now + 1h;
    node = *net::issue_certificate(authority, request);
    request.common_name = "kube-apiserver";
    request.server = false;
    request.client = true;
    api = *net::issue_certificate(authority, request);
  }

  ApiOptions options() const {
    ApiOptions out;
    out.kubelet_tls = {.ca_pem = authority.certificate_pem,
                       .certificate_pem = api.certificate_pem,
                       .key_pem = api.key_pem};
    return out;
  }

  net::KeyPair authority, node, api;
};

// The fake kubelet answers with the request it got and the name of the client.
class NodeProxyTest : public ::testing::Test {
 protected:
  NodeProxyTest() : api(keys.options()) {
    net::Route everything{.method = "*", .pattern = "*"};
    everything.handler = [](net::Request request) { return echo(std::move(request)); };
    net::ServerOptions options;
    options.tls = net::ServerTls{.certificate_pem = keys.node.certificate_pem,
                                 .key_pem = keys.node.key_pem,
                                 .client_ca_pem = keys.authority.certificate_pem};
    node = *net::Server::listen({api.loop.executor()}, options, {everything});
    const std::string& address = node->address();
    add_node("n1", address.substr(address.rfind(':') + 1));
  }

  ~NodeProxyTest() override { api.run(node->drain(0ms)); }

  static Task<net::Reply> echo(net::Request request) {
    net::Response out;
    out.status = request.path == "/missing" ? 404 : 200;
    out.headers.set("Content-Type", "text/odd");
    out.headers.set("Set-Cookie", "stays=here");
    out.body = fmt::format("{} {} {} {} by {}", request.method, request.path, request.query,
                           request.body, request.peer.certificate_user);
    co_return net::Reply(std::move(out));
  }

  void add_node(std::string_view name, std::string_view port) {
    const json::value object = parsed(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{
            "addresses":[{{"type":"Hostname","address":"{}"}},{{"type":"InternalIP","address":"127.0.0.1"}}],
            "daemonEndpoints":{{"kubeletEndpoint":{{"Port":{}}}}}}}}})",
        name, name, port));
    ASSERT_TRUE(api.run(api.client->create(res::nodes, {}, object)));
  }

  struct Answer {
    int status = 0;
    net::Headers headers;
    std::string body;
  };

  Answer ask(std::string method, std::string_view target, std::string body = {}) {
    net::Request request;
    request.method = std::move(method);
    const std::size_t question = target.find('?');
    request.path = target.substr(0, question);
    if (question != target.npos) request.query = target.substr(question + 1);
    request.body = std::move(body);
    auto stream = api.run(api.client->raw_stream(std::move(request)));
    PLIM_ASSERT(stream);
    Answer out{(*stream)->status(), (*stream)->headers(), {}};
    for (;;) {
      auto piece = api.run((*stream)->next());
      if (!piece || !*piece) return out;
      out.body += **piece;
    }
  }

  void make_pod(std::string_view name, std::string_view containers, std::string_view on) {
    json::value pod = parsed(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"nodeName":"{}","containers":[{}]}}}})", name, on,
        containers));
    ASSERT_TRUE(api.run(api.client->create(res::pods, {"default", ""}, pod)));
  }

  Keys keys;
  ApiFixture api;
  std::unique_ptr<net::Server> node;
};

constexpr std::string_view kOne = R"({"name":"c","image":"x"})";
constexpr std::string_view kTwo = R"({"name":"c","image":"x"},{"name":"d","image":"x"})";

TEST_F(NodeProxyTest, passes_on_method_path_query_and_body) {
  EXPECT_EQ(ask("GET", "/api/v1/nodes/n1/proxy/stats/summary?a=b&c=%20").body,
            "GET /stats/summary a=b&c=%20  by kube-apiserver");
  EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/proxy/run/x", "hello").body,
            "POST /run/x  hello by kube-apiserver");
  EXPECT_EQ(ask("GET", "/api/v1/nodes/n1/proxy").body, "GET /   by kube-apiserver");
}

TEST_F(NodeProxyTest, reports_that_a_simulated_node_serves_nothing) {
  add_node("sim", "0");
  make_pod("p", kOne, "sim");
  for (const char* path :
       {"/api/v1/nodes/sim/proxy/pods", "/api/v1/namespaces/default/pods/p/log"}) {
    const Answer answer = ask("GET", path);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_NE(answer.body.find("node sim serves neither logs nor figures"), std::string::npos)
        << answer.body;
  }
}

TEST_F(NodeProxyTest, returns_status_and_type_but_no_hop_by_hop_headers) {
  const Answer answer = ask("GET", "/api/v1/nodes/n1/proxy/missing");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.headers.get("Content-Type"), "text/odd");
  EXPECT_FALSE(answer.headers.has("Set-Cookie"));
}

TEST_F(NodeProxyTest, names_a_missing_or_unreachable_node) {
  EXPECT_EQ(ask("GET", "/api/v1/nodes/n9/proxy/pods").status, 404);
  add_node("dead", "1");  // no server listens there
  const Answer dead = ask("GET", "/api/v1/nodes/dead/proxy/pods");
  EXPECT_GE(dead.status, 500);
  EXPECT_THAT(dead.body, HasSubstr("error from node dead"));
}

TEST_F(NodeProxyTest, logs_are_requested_from_the_node_of_the_pod) {
  make_pod("a", kOne, "n1");
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods/a/log").body,
            "GET /containerLogs/default/a/c   by kube-apiserver");
  EXPECT_EQ(
      ask("GET", "/api/v1/namespaces/default/pods/a/log?follow=true&tailLines=3&pretty=1").body,
      "GET /containerLogs/default/a/c follow=true&tailLines=3  by kube-apiserver");
}

TEST_F(NodeProxyTest, logs_of_one_container_among_several) {
  make_pod("two", kTwo, "n1");
  const Answer unclear = ask("GET", "/api/v1/namespaces/default/pods/two/log");
  EXPECT_EQ(unclear.status, 400);
  EXPECT_THAT(unclear.body, HasSubstr("choose one of: [c d]"));
  EXPECT_THAT(ask("GET", "/api/v1/namespaces/default/pods/two/log?container=d").body,
              HasSubstr("/containerLogs/default/two/d"));
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods/two/log?container=e").status, 400);
}

TEST_F(NodeProxyTest, a_pod_without_a_node_has_an_empty_log) {
  make_pod("new", kOne, "");
  const Answer answer = ask("GET", "/api/v1/namespaces/default/pods/new/log");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods/none/log").status, 404);
}

}  // namespace
}  // namespace plim::local::apiserver::testing
