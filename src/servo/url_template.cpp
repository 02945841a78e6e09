#include "servo/url_template.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/http.hpp"
#include "net/url.hpp"

namespace plim::servo {
namespace {

Error mistake(std::size_t at, std::string_view what) {
  return fail(Code::invalid, fmt::format("column {}: {}", at + 1, what));
}

}  // namespace

Result<UrlTemplate> UrlTemplate::parse(std::string_view text, std::string_view account) {
  static constexpr std::array kNames{std::pair{std::string_view("app_id"), Field::app},
                                     std::pair{std::string_view("namespace"), Field::ns},
                                     std::pair{std::string_view("pod"), Field::pod},
                                     std::pair{std::string_view("uid"), Field::uid}};
  UrlTemplate out;
  out.parts_.emplace_back();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return mistake(at, "a URL must not contain blanks or control characters");
    const bool doubled = at + 1 < text.size() && text[at + 1] == c;
    if ((c != '{' && c != '}') || doubled) {
      out.parts_.back().text += c;
      if (c == '{' || c == '}') ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (c == '}') return mistake(at, "this '}' has no '{'; write }} for a brace");
    if (end == text.npos) return mistake(at, "this '{' is never closed; write {{ for a brace");
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const auto known = std::ranges::find(kNames, name, &std::pair<std::string_view, Field>::first);
    if (name == "acct") {
      if (account.empty()) return mistake(at, "{acct} is used, but OPTUNE_ACCOUNT is not set");
      out.parts_.back().text += net::percent_encode(account);
    } else if (known != kNames.end()) {
      out.parts_.back().field = known->second;
      out.parts_.emplace_back();
    } else {
      return mistake(at, fmt::format("unknown placeholder {}; use acct, app_id, namespace, "
                                     "pod or uid",
                                     quote(name)));
    }
    at = end;
  }
  // The text before the first placeholder must contain the whole origin.
  std::string& first = out.parts_.front().text;
  if (!first.starts_with("http://") && !first.starts_with("https://"))
    return mistake(0, "expected http:// or https://");
  const std::size_t host = first.find("://") + 3;
  const std::size_t slash = first.find_first_of("/?#", host);
  if (slash == first.npos && out.parts_.size() > 1)
    return mistake(first.size(), "host and port must not depend on the run");
  out.origin_ = first.substr(0, slash);
  first.erase(0, slash == first.npos ? first.size() : slash);
  if (first.starts_with('?') || first.empty()) first.insert(0, 1, '/');
  PLIM_CHECK(net::parse_url(out.origin_));
  return out;
}

UrlTemplate::Target UrlTemplate::expand(const Subject& subject) const {
  std::string whole;
  for (const Part& part : parts_) {
    whole += part.text;
    switch (part.field) {
      case Field::none:
        break;
      case Field::app:
        whole += net::percent_encode(subject.app);
        break;
      case Field::ns:
        whole += net::percent_encode(subject.ns);
        break;
      case Field::pod:
        whole += net::percent_encode(subject.pod);
        break;
      case Field::uid:
        whole += net::percent_encode(subject.uid);
        break;
    }
  }
  // A fragment is never sent.
  auto [path, query] = cut(std::string_view(whole).substr(0, whole.find('#')), '?');
  return {std::string(path), std::string(query)};
}

}  // namespace plim::servo
