// Who may use the secure port. The API server decides, with TokenReview and SubjectAccessReview, as
// for every component of Kubernetes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/store.hpp"
#include "net/http.hpp"

namespace plim::sched {

struct ReviewOptions {
  std::vector<std::string> always_allowed{"/healthz", "/readyz",
                                          "/livez"};  // and the paths below them
  Nanos remember = std::chrono::seconds(10);
};

// The clients for the reviews.
struct ReviewClients {
  std::shared_ptr<kube::Client> tokens, rights;
};

// Belongs to one loop.
class AccessReview {
 public:
  AccessReview(ReviewClients clients, ReviewOptions options, Clock& clock = system_clock());

  // 200: allowed; 401, 403 or 503 otherwise.
  Task<int> check(net::Request request);

 private:
  struct Answer {
    int status = 403;
    SteadyTime until{};
  };

  Task<int> ask(std::string user, std::vector<std::string> groups, std::string token,
                std::string path, std::string verb);

  ReviewClients clients_;
  ReviewOptions options_;
  Clock& clock_;
  kube::TextMap<Answer> answers_;
};

}  // namespace plim::sched
