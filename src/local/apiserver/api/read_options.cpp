#include "local/apiserver/api/read_options.hpp"

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

ApiResult<std::optional<store::Revision>> parse_revision(std::string_view text) {
  if (text.empty()) return std::optional<store::Revision>();
  auto number = parse_int<store::Revision>(text);
  if (!number)
    return bad_request(
        fmt::format("invalid resource version: resourceVersion: Invalid value: \"{0}\": "
                    "strconv.ParseUint: parsing \"{0}\": invalid syntax",
                    text));
  return std::optional(*number);
}

ApiResult<ReadOptions::Match> parse_match(std::string_view text) {
  if (text.empty()) return ReadOptions::Match::unset;
  if (text == "Exact") return ReadOptions::Match::exact;
  if (text == "NotOlderThan") return ReadOptions::Match::not_older_than;
  return invalid_options(
      "ListOptions",
      {{"FieldValueNotSupported",
        fmt::format(R"(Unsupported value: "{}": supported values: "Exact", "NotOlderThan", "")",
                    text),
        "resourceVersionMatch"}});
}

Cause forbidden_field(std::string field, std::string why) {
  return {"FieldValueForbidden", fmt::format("Forbidden: {}", why), std::move(field)};
}

void check_watch(const ReadOptions& options, std::vector<Cause>& causes) {
  using Match = ReadOptions::Match;
  if (!options.initial_events) {
    if (options.match != Match::unset)
      causes.push_back(
          forbidden_field("resourceVersionMatch",
                          "resourceVersionMatch is forbidden for watch unless sendInitialEvents "
                          "is provided"));
    return;
  }
  if (options.match != Match::not_older_than)
    causes.push_back(forbidden_field("resourceVersionMatch",
                                     "sendInitialEvents requires setting resourceVersionMatch to "
                                     "NotOlderThan"));
  if (options.match == Match::exact)
    causes.push_back({"FieldValueNotSupported",
                      R"(Unsupported value: "Exact": supported values: "NotOlderThan")",
                      "resourceVersionMatch"});
}

void check_list(const ReadOptions& options, bool has_revision, std::vector<Cause>& causes) {
  using Match = ReadOptions::Match;
  if (options.initial_events)
    causes.push_back(
        forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (options.match == Match::unset) return;
  if (!has_revision)
    causes.push_back(forbidden_field("resourceVersionMatch",
                                     "resourceVersionMatch is forbidden unless resourceVersion is "
                                     "provided"));
  if (!options.continue_token.empty())
    causes.push_back(forbidden_field("resourceVersionMatch",
                                     "resourceVersionMatch is forbidden when continue is "
                                     "provided"));
  if (options.match == Match::exact && options.revision == store::Revision{0})
    causes.push_back(forbidden_field("resourceVersionMatch",
                                     "resourceVersionMatch \"exact\" is forbidden for "
                                     "resourceVersion \"0\""));
}

}  // namespace

ApiResult<ReadOptions> parse_read_options(const Call& call) {
  const Query& query = call.query;
  ReadOptions out;
  out.watch = call.target.old_watch || query.flag("watch");
  std::string fields(query.text("fieldSelector"));
  if (!call.target.name.empty())  // a watch of one object by its path
    fields += fmt::format("{}metadata.name={}", fields.empty() ? "" : ",", call.target.name);
  PLIM_TRY(out.selection,
           Selection::parse(call.kind(), call.target.ns, query.text("labelSelector"), fields));
  PLIM_TRY(std::optional<std::int64_t> limit, query.integer("limit"));
  if (limit && *limit > 0) out.limit = static_cast<std::size_t>(*limit);
  out.continue_token = query.text("continue");
  PLIM_TRY(out.revision, parse_revision(query.text("resourceVersion")));
  PLIM_TRY(out.match, parse_match(query.text("resourceVersionMatch")));
  out.bookmarks = query.flag("allowWatchBookmarks");
  if (query.has("sendInitialEvents")) out.initial_events = query.flag("sendInitialEvents");
  PLIM_TRY(out.timeout_seconds, query.integer("timeoutSeconds"));

  std::vector<Cause> causes;
  if (out.watch)
    check_watch(out, causes);
  else
    check_list(out, out.revision.has_value(), causes);
  if (!causes.empty()) return invalid_options("ListOptions", std::move(causes));
  if (!out.watch && !out.continue_token.empty() && out.revision && *out.revision != 0)
    return bad_request("specifying resource version is not allowed when using continue");
  return out;
}

std::string encode_continue(const ContinueToken& token) {
  const json::object content{
      {"v", "meta.k8s.io/v1"}, {"rv", token.revision}, {"start", token.start}};
  std::string out = base64_encode(to_json(content));
  while (out.ends_with('=')) out.pop_back();
  return out;
}

ApiResult<ContinueToken> decode_continue(std::string_view text) {
  std::string padded(text);
  while (padded.size() % 4 != 0) padded += '=';
  const ApiError bad = bad_request("continue key is not valid");
  auto bytes = base64_decode(padded);
  if (!bytes) return bad;
  auto content = parse_json(*bytes);
  if (!content || text_at(*content, {"v"}) != "meta.k8s.io/v1") return bad;
  const std::int64_t revision = int_at(*content, {"rv"}).value_or(0);
  if (revision <= 0) return bad;
  return ContinueToken{static_cast<store::Revision>(revision),
                       std::string(text_at(*content, {"start"}))};
}

}  // namespace plim::local::apiserver
