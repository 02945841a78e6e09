#include "local/apiserver/api/reviews.hpp"

#include "kube/paths.hpp"
#include "local/apiserver/api/body.hpp"
#include "local/apiserver/api/response_output.hpp"

namespace plim::local::apiserver {
namespace {

json::value user_json(const User& user) {
  json::object out{{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = json::array(user.groups.begin(), user.groups.end());
  return out;
}

json::value token_status(const Authenticator& authenticator, const json::value& review) {
  auto reviewed = authenticator.review_token(kube::text_at(review, "TokenReview.spec.token"),
                                             kube::texts_at(review, "TokenReview.spec.audiences"));
  if (!reviewed) return {{"user", json::object()}, {"error", reviewed.error().message}};
  const auto& audiences = reviewed->audiences;
  return json::object{{"authenticated", true},
                      {"user", user_json(reviewed->user)},
                      {"audiences", json::array(audiences.begin(), audiences.end())}};
}

// The user in a SubjectAccessReview.
User subject_of(const json::value& review) {
  User out{.name = std::string(kube::text_at(review, "SubjectAccessReview.spec.user")),
           .uid = std::string(kube::text_at(review, "SubjectAccessReview.spec.uid"))};
  const json::value* groups = kube::find(review, "SubjectAccessReview.spec.groups");
  if (groups && groups->is_array())
    for (const json::value& one : groups->get_array())
      if (one.is_string()) out.groups.emplace_back(one.get_string());
  return out;
}

json::value access_status(const json::value& review, const User& user) {
  bool allowed = false;
  if (kube::find(review, "SubjectAccessReview.spec.resourceAttributes") != nullptr)
    allowed = is_allowed(user);
  else if (const json::value* asked =
               kube::find(review, "SubjectAccessReview.spec.nonResourceAttributes"))
    allowed = is_allowed(user, kube::text_at(*asked, "NonResourceAttributes.path"));
  return json::object{{"allowed", allowed}};
}

// Everything, and nothing is left out.
json::value all_rules() {
  const json::array any{"*"};
  const json::value resources{{"verbs", any}, {"apiGroups", any}, {"resources", any}};
  const json::value paths{{"verbs", any}, {"nonResourceURLs", any}};
  return {{"resourceRules", json::array{resources}},
          {"nonResourceRules", json::array{paths}},
          {"incomplete", false}};
}

// Rejects reviews that cannot be answered.
ApiResult<void> check_review(const Kind& kind, const json::value& review) {
  if (kind.kind == "TokenReview" && kube::text_at(review, "TokenReview.spec.token").empty())
    return bad_request("token is required for TokenReview in authentication");
  if (kind.kind == "SelfSubjectRulesReview" &&
      kube::text_at(review, "SelfSubjectRulesReview.spec.namespace").empty())
    return bad_request("no namespace on request");
  if (!kind.kind.ends_with("AccessReview")) return {};
  const bool asks_for_resource =
      kube::find(review, "SubjectAccessReview.spec.resourceAttributes") != nullptr;
  if (asks_for_resource !=
      (kube::find(review, "SubjectAccessReview.spec.nonResourceAttributes") != nullptr))
    return {};
  Kind shown;  // upstream's message has no kind here
  shown.group = kind.group;
  return invalid(shown, "",
                 {{"FieldValueInvalid",
                   "Invalid value: null: exactly one of nonResourceAttributes or "
                   "resourceAttributes must be specified",
                   "spec"}});
}

}  // namespace

bool is_review(const Kind& kind) {
  return kind.group == "authentication.k8s.io" || kind.group == "authorization.k8s.io";
}

ApiResult<net::Reply> answer_review(const Authenticator& authenticator, Call& call) {
  PLIM_TRY(json::value review, decode_body(call));
  const std::string& kind = call.kind().kind;
  PLIM_CHECK(check_review(call.kind(), review));
  json::value status;
  if (kind == "TokenReview")
    status = token_status(authenticator, review);
  else if (kind == "SelfSubjectReview")
    status = json::object{{"userInfo", user_json(call.user)}};
  else if (kind == "SelfSubjectRulesReview")
    status = all_rules();
  else
    status =
        access_status(review, kind == "SelfSubjectAccessReview" ? call.user : subject_of(review));
  review.as_object()["status"] = std::move(status);
  return text_reply(call, 201, to_json(review));
}

}  // namespace plim::local::apiserver
