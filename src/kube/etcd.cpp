#include "kube/etcd.hpp"

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "net/client.hpp"

namespace plim::kube {
namespace {

constexpr std::chrono::milliseconds kEtcdPatience{5000};

// The JSON of etcd's gateway has 64-bit numbers as strings.
std::int64_t etcd_number(const json::value& answer, std::initializer_list<std::string_view> path) {
  return parse_int<std::int64_t>(text_at(answer, path)).value_or(0);
}

// The smallest key that is larger than all keys with `prefix`.
std::string end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');
  ++prefix.back();
  return prefix;
}

class GatewayClient final : public EtcdClient {
 public:
  explicit GatewayClient(std::vector<std::shared_ptr<net::Client>> members)
      : members_(std::move(members)) {}

  Task<Result<std::int64_t>> grant_lease(std::chrono::seconds life) override {
    json::object request{{"TTL", life.count()}};
    PLIM_CO_TRY(json::value answer, co_await ask("/v3/lease/grant", std::move(request)));
    const std::int64_t lease = etcd_number(answer, {"ID"});
    if (lease == 0) co_return fail(Code::internal, "etcd granted a lease without an id");
    co_return lease;
  }

  Task<Result<std::chrono::seconds>> keep_lease(std::int64_t lease) override {
    json::object request{{"ID", lease}};
    PLIM_CO_TRY(json::value answer, co_await ask("/v3/lease/keepalive", std::move(request)));
    co_return std::chrono::seconds(etcd_number(answer, {"result", "TTL"}));
  }

  Task<Result<void>> put(std::vector<EtcdPut> puts, std::int64_t lease) override {
    json::array operations;
    for (const EtcdPut& put : puts) {
      json::object one{{"key", base64_encode(put.key)}, {"value", base64_encode(put.value)}};
      if (lease != 0) one["lease"] = lease;
      operations.push_back(json::object{{"requestPut", std::move(one)}});
    }
    json::object request{{"success", std::move(operations)}};
    auto answer = co_await ask("/v3/kv/txn", std::move(request));
    if (!answer) co_return answer.error();
    co_return Result<void>();
  }

  Task<Result<std::vector<EtcdKey>>> list_prefix(std::string prefix) override {
    json::object request{{"key", base64_encode(prefix)},
                         {"range_end", base64_encode(end_of_prefix(prefix))},
                         {"keys_only", true}};
    PLIM_CO_TRY(json::value answer, co_await ask("/v3/kv/range", std::move(request)));
    std::vector<EtcdKey> out;
    const json::value* entries = find(answer, {"kvs"});
    if (!entries || !entries->is_array()) co_return out;
    for (const json::value& entry : entries->get_array()) {
      PLIM_CO_TRY(std::string key, base64_decode(text_at(entry, {"key"})));
      out.push_back({.key = std::move(key), .revision = etcd_number(entry, {"mod_revision"})});
    }
    co_return out;
  }

  Task<Result<std::string>> read(std::string key) override {
    json::object request{{"key", base64_encode(key)}};
    PLIM_CO_TRY(json::value answer, co_await ask("/v3/kv/range", std::move(request)));
    const json::value* entries = find(answer, {"kvs"});
    if (!entries || !entries->is_array() || entries->get_array().empty())
      co_return fail(Code::not_found, fmt::format("etcd has no key {}", quote(key)));
    co_return base64_decode(text_at(entries->get_array()[0], {"value"}));
  }

 private:
  // Skips members that do not answer; tries the last one that did first.
  Task<Result<json::value>> ask(std::string path, json::object request) {
    const std::string body = to_json(request);
    Error last;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      net::Request post{.method = "POST", .path = path, .body = body};
      net::CallOptions options{.timeout = kEtcdPatience};
      auto response = co_await members_[current_]->send(std::move(post), options);
      if (response && response->status == 200)
        co_return parse_json(response->body, "etcd's answer");
      if (response)
        last = fail(code_from_http(response->status),
                    fmt::format("etcd answered {}: {}", response->status,
                                quote(trim(response->body).substr(0, 200))));
      else
        last = std::move(response).error();
      if (response && response->status < 500) break;
      current_ = (current_ + 1) % members_.size();
    }
    co_return last;
  }

  std::vector<std::shared_ptr<net::Client>> members_;
  std::size_t current_ = 0;
};

}  // namespace

Result<std::shared_ptr<EtcdClient>> EtcdClient::create(const Executor& loop, EtcdOptions options) {
  if (options.endpoints.empty()) return fail(Code::invalid, "no etcd endpoint is configured");
  std::vector<std::shared_ptr<net::Client>> members;
  for (const std::string& endpoint : options.endpoints) {
    net::ClientOptions settings{.tls = options.tls};
    PLIM_TRY(auto member, net::Client::create(loop, endpoint, std::move(settings)));
    members.push_back(std::move(member));
  }
  return std::make_shared<GatewayClient>(std::move(members));
}

std::string image_inventory_key(std::string_view cluster, std::string_view node) {
  return fmt::format("/plimsoll/images/v1/{}/{}", cluster, node);
}

}  // namespace plim::kube
