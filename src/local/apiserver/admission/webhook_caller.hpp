// Calls webhooks over HTTPS.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/apiserver/admission/webhook.hpp"
#include "local/apiserver/admission/webhook_review.hpp"
#include "net/client.hpp"

namespace plim::local::apiserver {

using WebhookPtr = std::shared_ptr<const Webhook>;

// Keeps connections to webhooks open. Belongs to one loop; must outlive its calls.
class WebhookCaller {
 public:
  // `api` is used to find the endpoints of Services.
  WebhookCaller(Executor loop, std::shared_ptr<kube::Client> api)
      : loop_(std::move(loop)), api_(std::move(api)) {}

  // Applies the timeout of the webhook. `request` gets a new UID for this call.
  Task<Result<ReviewAnswer>> call(WebhookPtr webhook, json::object request, Phase phase);

 private:
  struct Target {
    std::string base;         // https://host:port
    std::string path;         // of the request
    std::string server_name;  // the name in the certificate; "": the host
  };

  Task<Result<Target>> find_target(WebhookPtr webhook);
  Result<std::shared_ptr<net::Client>> client_for(const Target& target, const std::string& ca_pem);

  Executor loop_;
  std::shared_ptr<kube::Client> api_;
  std::map<std::string, std::shared_ptr<net::Client>> clients_;
};

// "ip:port" of a ready endpoint for this port of a Service. Code::unavailable: there is none.
Task<Result<std::string>> find_endpoint(std::shared_ptr<kube::Client> api, std::string ns,
                                        std::string service, int port);

}  // namespace plim::local::apiserver
