// A webhook for tests: a real TLS server on the test's own loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "net/server.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver::testing {

class WebhookServer {
 public:
  // Maps the `request` of a review to the `response`; the server sets the UID.
  using Answer = std::function<json::value(const json::value& request)>;

  // Its certificate is valid for 127.0.0.1 and these names.
  explicit WebhookServer(const Executor& loop, std::vector<std::string> names = {})
      : silence_(loop), arrived_(loop) {
    const WallTime now = system_clock().wall();
    authority_ = net::make_authority("test authority", now - kDay, now + kDay).value();
    net::CertificateRequest request{.common_name = "webhook",
                                    .dns_names = std::move(names),
                                    .ip_addresses = {"127.0.0.1"},
                                    .server = true,
                                    .not_before = now - kDay,
                                    .not_after = now + kDay};
    const net::KeyPair key = net::issue_certificate(authority_, request).value();
    net::ServerOptions options;
    options.tls = net::ServerTls{.certificate_pem = key.certificate_pem, .key_pem = key.key_pem};
    net::Route route{.method = "POST", .pattern = "*"};
    route.handler = [this](net::Request received) { return serve(std::move(received)); };
    server_ = net::Server::listen({loop}, options, {route}).value();
  }

  void on(std::string path, Answer answer) { answers_[std::move(path)] = std::move(answer); }

  // Gets the whole review and returns the raw response: for invalid responses.
  std::function<net::Response(const json::value& review)> raw = {};
  // Responses wait until this many requests have arrived.
  std::size_t barrier = 0;
  // Never responds.
  bool silent = false;

  std::string url(std::string_view path) const {
    return fmt::format("https://127.0.0.1:{}{}", port(), path);
  }

  int port() const { return server_->port(); }

  std::string ca_bundle() const { return base64_encode(authority_.certificate_pem); }

  Task<void> stop() {
    silent = false;
    silence_.notify();
    return server_->drain(net::Millis(0));
  }

  std::vector<net::Request> requests = {};
  std::vector<json::value> reviews = {};

 private:
  static constexpr std::chrono::hours kDay{24};

  Task<net::Reply> serve(net::Request received) {
    json::value review = parse_json(received.body).value();
    requests.push_back(received);
    reviews.push_back(review);
    arrived_.notify();
    while (requests.size() < barrier) co_await arrived_.wait();
    while (silent) co_await silence_.wait();
    if (raw) co_return raw(review);
    json::value response = answers_.at(received.path)(review.at("request"));
    response.as_object()["uid"] = review.at("request").at("uid");
    const json::value body = json::object{
        {"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", response}};
    net::Response out{.status = 200, .body = to_json(body)};
    co_return out;
  }

  net::KeyPair authority_;
  Event silence_;
  Event arrived_;
  std::map<std::string, Answer> answers_;
  std::unique_ptr<net::Server> server_;
};

inline json::value allow() {
  return json::object{{"allowed", true}};
}

// A patch that sets one label.
inline json::value set_label(const json::value& request, std::string_view key,
                             std::string_view value) {
  json::array patch;
  if (!find(request, {"object", "metadata", "labels"}))
    patch.push_back(
        json::object{{"op", "add"}, {"path", "/metadata/labels"}, {"value", json::object()}});
  patch.push_back(json::object{
      {"op", "add"}, {"path", fmt::format("/metadata/labels/{}", key)}, {"value", value}});
  return json::object{
      {"allowed", true}, {"patchType", "JSONPatch"}, {"patch", base64_encode(to_json(patch))}};
}

}  // namespace plim::local::apiserver::testing
