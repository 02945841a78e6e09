#include "sched/review.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::sched {
namespace {

constexpr std::size_t kMaxRemembered = 1000;

const kube::Resource kTokenReviews{.group = "authentication.k8s.io",
                                   .version = "v1",
                                   .plural = "tokenreviews",
                                   .kind = "TokenReview",
                                   .namespaced = false};
const kube::Resource kAccessReviews{.group = "authorization.k8s.io",
                                    .version = "v1",
                                    .plural = "subjectaccessreviews",
                                    .kind = "SubjectAccessReview",
                                    .namespaced = false};

bool lies_below(std::string_view path, std::string_view place) {
  if (place.ends_with("/*")) return path.starts_with(place.substr(0, place.size() - 1));
  return path == place || (path.starts_with(place) && path.substr(place.size()).starts_with('/'));
}

}  // namespace

AccessReview::AccessReview(ReviewClients clients, ReviewOptions options, Clock& clock)
    : clients_(std::move(clients)), options_(std::move(options)), clock_(clock) {}

Task<int> AccessReview::check(net::Request request) {
  for (const std::string& place : options_.always_allowed)
    if (lies_below(request.path, place)) co_return 200;
  std::string verb = request.method == "PUT" ? "put" : "get";
  std::string token(bearer_token(request.headers));
  std::string user = request.peer.certificate_user;
  std::vector<std::string> groups = request.peer.certificate_groups;
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", user, fmt::join(groups, ","), token, verb, request.path);
  const SteadyTime now = clock_.steady();
  if (const auto found = answers_.find(key); found != answers_.end() && found->second.until > now)
    co_return found->second.status;
  const int status = co_await ask(std::move(user), std::move(groups), std::move(token),
                                  request.path, std::move(verb));
  if (answers_.size() >= kMaxRemembered) answers_.clear();
  if (status != 503)
    answers_[std::move(key)] = {.status = status, .until = now + options_.remember};
  co_return status;
}

Task<int> AccessReview::ask(std::string user, std::vector<std::string> groups, std::string token,
                            std::string path, std::string verb) {
  kube::ObjectPath nowhere;
  if (user.empty() && !token.empty()) {
    json::value review = json::object{{"apiVersion", "authentication.k8s.io/v1"},
                                      {"kind", "TokenReview"},
                                      {"spec", {{"token", token}}}};
    auto answer = co_await clients_.tokens->create(kTokenReviews, nowhere, std::move(review));
    if (!answer) {
      log::warn("scheduler", "TokenReview failed", {{"error", answer.error()}});
      co_return 503;
    }
    if (!kube::bool_at(*answer, "TokenReview.status.authenticated")) co_return 401;
    user = kube::text_at(*answer, "TokenReview.status.user.username");
    groups = kube::texts_at(*answer, "TokenReview.status.user.groups");
  }
  if (user.empty()) {
    user = "system:anonymous";
    groups = {"system:unauthenticated"};
  }
  json::array named;
  for (const std::string& group : groups) named.emplace_back(group);
  json::value review =
      json::object{{"apiVersion", "authorization.k8s.io/v1"},
                   {"kind", "SubjectAccessReview"},
                   {"spec",
                    {{"user", user},
                     {"groups", std::move(named)},
                     {"nonResourceAttributes", {{"path", path}, {"verb", verb}}}}}};
  auto answer = co_await clients_.rights->create(kAccessReviews, nowhere, std::move(review));
  if (!answer) {
    log::warn("scheduler", "SubjectAccessReview failed", {{"error", answer.error()}});
    co_return 503;
  }
  co_return kube::bool_at(*answer, "SubjectAccessReview.status.allowed") ? 200 : 403;
}

}  // namespace plim::sched
