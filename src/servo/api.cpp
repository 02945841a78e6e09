#include "servo/api.hpp"

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::servo {
namespace {

constexpr std::size_t kMostAtOnce = 10'000;
constexpr std::string_view kRunsPath = "/v1/runs/";

net::Response answer(int status, std::string type, std::string body) {
  net::Response out{.status = status, .headers = {}, .body = std::move(body)};
  out.headers.set("Content-Type", std::move(type));
  return out;
}

net::Response text_answer(int status, std::string body) {
  return answer(status, "text/plain; charset=utf-8", std::move(body));
}

net::Response json_answer(const json::value& value) {
  return answer(200, "application/json", to_json(value) + "\n");
}

net::Response error_answer(const Error& error) {
  const json::object body{{"error", error.message}, {"reason", reason(error.code)}};
  return answer(http_status(error.code), "application/json", to_json(body) + "\n");
}

Result<WallTime> parse_since(std::string_view text, WallTime now) {
  if (auto time = parse_rfc3339(text)) return time;
  auto age = parse_duration(text);
  if (age && *age >= Nanos(0)) return now - *age;
  return fail(Code::bad_request,
              fmt::format("since: expected a time or an age such as 2h, found {}", quote(text)));
}

// State that the handlers of one server share.
class Api {
 public:
  explicit Api(ApiParts parts) : parts_(std::move(parts)) {}

  Task<net::Reply> runs(net::Request request) {
    auto query = parse_run_query(request.query, parts_.clock.wall());
    if (!query) co_return error_answer(query.error());
    auto page = co_await parts_.store.page(std::move(*query));
    if (!page) co_return error_answer(page.error());
    co_return json_answer(page_to_json(*page));
  }

  Task<net::Reply> pod_runs(net::Request request) {
    std::string uid = net::percent_decode(std::string_view(request.path).substr(kRunsPath.size()));
    const std::string asked = quote(uid);
    auto runs = co_await parts_.store.of_pod(std::move(uid));
    if (!runs) co_return error_answer(runs.error());
    if (runs->empty())
      co_return error_answer(
          fail(Code::not_found, fmt::format("no run of a pod with uid {} is stored", asked)));
    RunPage page{.runs = std::move(*runs), .next = {}};
    co_return json_answer(page_to_json(page));
  }

  Task<net::Reply> ready(net::Request) {
    std::string why = parts_.not_ready();
    co_return why.empty() ? text_answer(200, "ok\n") : text_answer(503, why + "\n");
  }

  Task<net::Reply> metrics(net::Request) {
    co_return answer(200, std::string(metrics::kContentType), parts_.metrics.registry.expose());
  }

  static Task<net::Reply> health(net::Request) { co_return text_answer(200, "ok\n"); }

 private:
  ApiParts parts_;
};

}  // namespace

Result<RunQuery> parse_run_query(std::string_view query, WallTime now) {
  RunQuery out;
  for (auto& [name, value] : net::parse_query(query)) {
    if (name == "app") {
      out.app = value;
    } else if (name == "namespace") {
      out.ns = value;
    } else if (name == "pod") {
      out.pod = value;
    } else if (name == "since") {
      PLIM_TRY(out.since, parse_since(value, now));
    } else if (name == "limit") {
      auto limit = parse_int<std::size_t>(value);
      if (!limit || *limit == 0 || *limit > kMostAtOnce)
        return fail(Code::bad_request, fmt::format("limit: expected 1 to {}", kMostAtOnce));
      out.limit = *limit;
    } else if (name == "continue") {
      auto at = parse_position(value);
      if (!at) return fail(Code::bad_request, "continue: not a value from an earlier answer");
      out.before = *at;
    } else {
      return fail(Code::bad_request, fmt::format("unknown parameter {}", quote(name)));
    }
  }
  return out;
}

json::object page_to_json(const RunPage& page) {
  json::array items;
  for (const StoredRun& run : page.runs) items.push_back(stored_to_json(run));
  json::object out{{"items", std::move(items)}};
  if (page.next) out["continue"] = format_position(*page.next);
  return out;
}

std::vector<net::Route> api_routes(ApiParts parts) {
  auto api = std::make_shared<Api>(std::move(parts));
  auto get = [](std::string pattern, net::Handler handler) {
    net::Route out{.method = "GET", .pattern = std::move(pattern)};
    out.handler = std::move(handler);
    return out;
  };
  return {get("/healthz", [](net::Request r) { return Api::health(std::move(r)); }),
          get("/readyz", [api](net::Request r) { return api->ready(std::move(r)); }),
          get("/metrics", [api](net::Request r) { return api->metrics(std::move(r)); }),
          get("/v1/runs", [api](net::Request r) { return api->runs(std::move(r)); }),
          get("/v1/runs/*", [api](net::Request r) { return api->pod_runs(std::move(r)); })};
}

}  // namespace plim::servo
