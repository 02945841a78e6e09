#include "webhook/review.hpp"

#include "base/base64.hpp"

namespace plim::webhook {
namespace {

constexpr std::size_t kMaxWarning = 120;
constexpr int kUnprocessable = 422;

// At a character's end.
std::string_view shortened(std::string_view text) {
  if (text.size() <= kMaxWarning) return text;
  std::size_t end = kMaxWarning;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

json::value take(json::value& request, std::string_view name) {
  json::value* found = request.get_object().if_contains(name);
  return found ? std::move(*found) : json::value();
}

}  // namespace

Result<kube::AdmissionReview> read_review(std::string_view body) {
  auto parsed = parse_json(body);
  if (!parsed) return fail(Code::bad_request, "no AdmissionReview: " + parsed.error().message);
  json::value* request =
      parsed->is_object() ? parsed->get_object().if_contains("request") : nullptr;
  if (!request || !request->is_object())
    return fail(Code::bad_request, "no AdmissionReview: there is no request in it");
  const auto text = [&](std::initializer_list<std::string_view> path) {
    return std::string(text_at(*request, path));
  };
  return kube::AdmissionReview{.api_version = std::string(text_at(*parsed, {"apiVersion"})),
                               .uid = text({"uid"}),
                               .group = text({"resource", "group"}),
                               .resource = text({"resource", "resource"}),
                               .subresource = text({"subResource"}),
                               .ns = text({"namespace"}),
                               .name = text({"name"}),
                               .operation = text({"operation"}),
                               .dry_run = bool_at(*request, {"dryRun"}),
                               .object = take(*request, "object"),
                               .old_object = take(*request, "oldObject")};
}

std::string write_review(const kube::AdmissionReview& review, const kube::AdmissionAnswer& answer) {
  json::object response{{"uid", review.uid}, {"allowed", answer.allowed}};
  if (!answer.allowed)
    response["status"] = json::object{{"status", "Failure"},
                                      {"message", answer.message},
                                      {"reason", "Invalid"},
                                      {"code", kUnprocessable}};
  if (answer.allowed && !answer.patch.empty()) {
    response["patch"] = base64_encode(to_json(answer.patch));
    response["patchType"] = "JSONPatch";
  }
  json::array warnings;
  for (const std::string& warning : answer.warnings) warnings.emplace_back(shortened(warning));
  if (!warnings.empty()) response["warnings"] = std::move(warnings);
  return to_json(json::object{{"apiVersion", review.api_version},
                              {"kind", "AdmissionReview"},
                              {"response", std::move(response)}});
}

}  // namespace plim::webhook
