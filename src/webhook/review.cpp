#include "webhook/review.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "kube/paths.hpp"

namespace plim::webhook {
namespace {

constexpr std::size_t kMaxWarning = 120;
constexpr int kUnprocessable = 422;

// Cut at the end of a character.
std::string_view shortened(std::string_view text) {
  if (text.size() <= kMaxWarning) return text;
  std::size_t end = kMaxWarning;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

std::string patch_text(const json::array& operations) {
  std::string out;
  char before = '[';
  for (const json::value& operation : operations) {
    out += std::exchange(before, ',');
    append_json(out, operation);
  }
  out += ']';
  return out;
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
    return fail(Code::bad_request, "not an AdmissionReview: it has no request");
  const auto text = [&](kube::TextPath path) { return std::string(kube::text_at(*request, path)); };
  return kube::AdmissionReview{
      .api_version = std::string(kube::text_at(*parsed, "AdmissionReview.apiVersion")),
      .uid = text("AdmissionRequest.uid"),
      .group = text("AdmissionRequest.resource.group"),
      .resource = text("AdmissionRequest.resource.resource"),
      .subresource = text("AdmissionRequest.subResource"),
      .ns = text("AdmissionRequest.namespace"),
      .name = text("AdmissionRequest.name"),
      .operation = text("AdmissionRequest.operation"),
      .dry_run = kube::bool_at(*request, "AdmissionRequest.dryRun"),
      .object = take(*request, "object"),
      .old_object = take(*request, "oldObject")};
}

// Written directly as text: building JSON values first would take twice as long.
std::string write_review(const kube::AdmissionReview& review, const kube::AdmissionAnswer& answer) {
  std::string out = R"({"apiVersion":)";
  append_json_string(out, review.api_version);
  out += R"(,"kind":"AdmissionReview","response":{"uid":)";
  append_json_string(out, review.uid);
  out += answer.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  if (!answer.allowed) {
    out += R"(,"status":{"status":"Failure","message":)";
    append_json_string(out, answer.message);
    out += fmt::format(R"(,"reason":"Invalid","code":{}}})", kUnprocessable);
  } else if (!answer.patch.empty()) {
    out += R"(,"patch":")";
    out += base64_encode(patch_text(answer.patch));
    out += R"(","patchType":"JSONPatch")";
  }
  char before = '[';
  for (const std::string& warning : answer.warnings) {
    if (before == '[') out += R"(,"warnings":)";
    out += std::exchange(before, ',');
    append_json_string(out, shortened(warning));
  }
  out += answer.warnings.empty() ? "}}" : "]}}";
  return out;
}

}  // namespace plim::webhook
