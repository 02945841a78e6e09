#include "webhook/server.hpp"

#include <chrono>
#include <exception>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/exposition.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "net/x509.hpp"
#include "webhook/review.hpp"

namespace plim::webhook {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMaxReview = 8u << 20;
// Of all reviews at once: the deployment limits the memory to 128 MiB.
constexpr std::size_t kMaxReviews = 32u << 20;
constexpr seconds kLimit{5};  // to send a request, and to read the response
constexpr seconds kDrainGrace{10};
constexpr std::string_view kFault = "fault";  // the code of a response without a mutator's answer

net::Response plain_answer(int status, std::string body) {
  net::Response out{.status = status, .headers = {}, .body = std::move(body)};
  out.headers.set("Content-Type", "text/plain; charset=utf-8");
  return out;
}

bool is_json(std::string_view content_type) {
  return equals_ignoring_case(trim(cut(content_type, ';').first), "application/json");
}

// One path with its mutator. Outlives the server's handlers, which share it.
class Endpoint {
 public:
  Endpoint(MutatorRow row, metrics::Registry& registry, Clock& clock)
      : row_(std::move(row)),
        registry_(&registry),
        clock_(&clock),
        seconds_(registry.histogram("plimsoll_webhook_request_seconds", "Time to answer a review.",
                                    metrics::spread_bounds(1e-5, 18), {{"path", row_.path}})),
        inflight_(registry.gauge("plimsoll_webhook_inflight", "Reviews being answered.")),
        http1_(by_protocol("http/1.1")),
        http2_(by_protocol("h2")) {}

  const std::string& path() const { return row_.path; }

  net::Response answer(const net::Request& request) {
    (request.http2 ? http2_ : http1_).add();
    if (request.method != "POST") {
      net::Response out = refuse(405, "send reviews with POST\n");
      out.headers.set("Allow", "POST");
      return out;
    }
    if (!is_json(request.headers.get("Content-Type")))
      return refuse(415, "send reviews as application/json\n");
    auto review = read_review(request.body);
    if (!review) return refuse(400, review.error().message + "\n");
    const SteadyTime began = clock_->steady();
    inflight_.add(1);
    auto mutated = mutate(*review);
    if (!mutated) {
      inflight_.add(-1);
      return refuse(500, mutated.error().message + "\n");
    }
    const kube::AdmissionAnswer& said = *mutated;
    net::Response out{.status = 200, .headers = {}, .body = write_review(*review, said)};
    out.headers.set("Content-Type", "application/json");
    inflight_.add(-1);
    seconds_.observe(std::chrono::duration<double>(clock_->steady() - began).count());
    if (!said.allowed) {
      count("rejected", said.code);
      log::info("webhook", "rejected",
                {{"path", row_.path}, {"namespace", review->ns}, {"why", said.message}});
    } else if (said.code == kFault) {
      count("error", kFault);
    } else {
      count(said.patch.empty() ? "allowed" : "patched", "200");
    }
    return out;
  }

 private:
  metrics::Counter& by_protocol(std::string name) {
    return registry_->counter("plimsoll_webhook_protocol_requests_total",
                              "Requests by the negotiated protocol.",
                              {{"path", row_.path}, {"protocol", std::move(name)}});
  }

  Result<kube::AdmissionAnswer> mutate(const kube::AdmissionReview& review) {
    try {
      return row_.mutate(review);
    } catch (const std::exception& fault) {
      faults_.write(log::Level::error, "webhook", "a mutator failed",
                    {{"path", row_.path}, {"namespace", review.ns}, {"error", fault.what()}});
      if (row_.on_fault == OnFault::fail) return fail(Code::internal, "the mutator failed");
      kube::AdmissionAnswer out;
      out.code = kFault;
      out.warnings.emplace_back("the pod is created without changes: its webhook failed");
      return out;
    }
  }

  net::Response refuse(int status, std::string why) {
    count("error", std::to_string(status));
    return plain_answer(status, std::move(why));
  }

  void count(std::string_view result, std::string_view code) {
    // Cached: looking up a counter takes longer than parsing a small review.
    metrics::Counter*& counter = counters_[fmt::format("{} {}", result, code)];
    if (counter == nullptr)
      counter = &registry_->counter(
          "plimsoll_webhook_requests_total",
          "Requests by result and code: the HTTP status, or the code of the rejection.",
          {{"path", row_.path}, {"result", std::string(result)}, {"code", std::string(code)}});
    counter->add();
  }

  MutatorRow row_;
  metrics::Registry* registry_;
  std::map<std::string, metrics::Counter*> counters_;  // by result and code
  Clock* clock_;
  metrics::Histogram& seconds_;
  metrics::Gauge& inflight_;
  metrics::Counter& http1_;
  metrics::Counter& http2_;
  log::Throttle faults_;
};

Task<net::Reply> review_reply(std::shared_ptr<Endpoint> endpoint, net::Request request) {
  net::Reply out = endpoint->answer(request);
  co_return out;
}

Task<net::Reply> fine_reply() {
  net::Reply out = plain_answer(200, "ok\n");
  co_return out;
}

Task<net::Reply> metrics_reply(metrics::Registry* registry) {
  net::Response response{.status = 200, .headers = {}, .body = registry->expose()};
  response.headers.set("Content-Type", std::string(metrics::kContentType));
  net::Reply out = std::move(response);
  co_return out;
}

net::Route review_route(std::shared_ptr<Endpoint> endpoint) {
  // For any method: reads the body before rejecting, so that the connection can be reused.
  std::string path = endpoint->path();
  return {
      .method = "*",
      .pattern = std::move(path),
      .handler = [endpoint = std::move(endpoint)](
                     net::Request request) { return review_reply(endpoint, std::move(request)); },
      .options = {.max_body = kMaxReview, .body_timeout = kLimit}};
}

}  // namespace

struct AdmissionServer::Impl {
  std::unique_ptr<net::Server> server;
  std::shared_ptr<WallTime> expires = std::make_shared<WallTime>();
  std::shared_ptr<metrics::Registry::Collect> collector;
};

AdmissionServer::AdmissionServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AdmissionServer::~AdmissionServer() = default;

Result<std::unique_ptr<AdmissionServer>> AdmissionServer::listen(const Executor& loop,
                                                                 ServerSettings settings,
                                                                 metrics::Registry& registry,
                                                                 Clock& clock) {
  PLIM_TRY(const net::CertificateInfo info,
           net::read_certificate(settings.certificate.certificate_pem));
  const net::RouteOptions plain{.body_timeout = kLimit};
  std::vector<net::Route> routes{
      {.method = "GET",
       .pattern = "/healthz",
       .handler = [](const net::Request&) { return fine_reply(); },
       .options = plain},
      {.method = "GET",
       .pattern = "/readyz",
       .handler = [](const net::Request&) { return fine_reply(); },
       .options = plain},
      {.method = "GET",
       .pattern = "/metrics",
       .handler = [registry = &registry](const net::Request&) { return metrics_reply(registry); },
       .options = plain}};
  for (MutatorRow& row : settings.mutators)
    routes.push_back(review_route(std::make_shared<Endpoint>(std::move(row), registry, clock)));
  net::ServerOptions options{.address = settings.listen,
                             .tls = std::move(settings.certificate),
                             .max_connections = 400,
                             .max_connections_per_peer = 100,
                             .max_bodies = kMaxReviews,
                             .header_timeout = kLimit,
                             .http2 = true};
  auto impl = std::make_unique<Impl>();
  PLIM_TRY(impl->server, net::Server::listen({loop}, std::move(options), std::move(routes)));
  *impl->expires = info.not_after;
  impl->collector =
      registry.add_collector([expires = impl->expires, clock = &clock](metrics::Exposition& out) {
        const std::chrono::duration<double> left = *expires - clock->wall();
        out.family("plimsoll_webhook_cert_expiry_seconds", "Time until the certificate expires.",
                   metrics::Type::gauge)
            .sample(left.count());
      });
  return std::unique_ptr<AdmissionServer>(new AdmissionServer(std::move(impl)));
}

std::string AdmissionServer::address() const {
  return impl_->server->address();
}

Result<void> AdmissionServer::set_certificate(const net::ServerTls& certificate) {
  PLIM_TRY(const net::CertificateInfo info, net::read_certificate(certificate.certificate_pem));
  PLIM_CHECK(impl_->server->set_tls(certificate));
  *impl_->expires = info.not_after;
  return {};
}

WallTime AdmissionServer::expires() const {
  return *impl_->expires;
}

Task<void> AdmissionServer::drain() {
  return impl_->server->drain(kDrainGrace);
}

}  // namespace plim::webhook
