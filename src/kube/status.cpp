#include "kube/status.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "kube/paths.hpp"

namespace plim::kube {
namespace {

constexpr std::size_t kMaxExcerpt = 160;
constexpr std::size_t kMaxParsed = 1u << 20;  // no Status is larger; do not parse larger bodies
constexpr std::size_t kMaxMessage = 4096;

bool is_status(const json::value& value) {
  return text_at(value, "Status.kind") == "Status";
}

// Cuts between characters.
void shorten(std::string& text, std::size_t max) {
  if (text.size() <= max) return;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0) == 0x80) --max;
  text.resize(max);
  text += "…";
}

// The text of an HTML page on one line, without tags and scripts.
std::string excerpt(std::string_view body) {
  std::string out;
  bool in_tag = false;
  for (std::size_t i = 0; i < body.size() && out.size() <= kMaxExcerpt + 4; ++i) {
    const char c = body[i];
    if (c == '<') {
      for (std::string_view hidden : {"style", "script", "head"}) {
        if (!body.substr(i + 1).starts_with(hidden)) continue;
        const std::size_t end = body.find(fmt::format("</{}", hidden), i);
        i = std::min(end, body.size() - 1);
      }
      in_tag = true;
    }
    const bool blank = in_tag || static_cast<unsigned char>(c) <= ' ' || c == 0x7F;
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
    if (c == '>') in_tag = false;
  }
  while (out.ends_with(' ')) out.pop_back();
  shorten(out, kMaxExcerpt);
  return out;
}

}  // namespace

std::optional<std::chrono::seconds> retry_after(const net::Headers& headers) {
  const std::string_view text = headers.get("Retry-After");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(seconds, 1'000'000));
}

Error error_from_status(const json::value& status, int http_status) {
  const std::int64_t http = int_at(status, "Status.code").value_or(http_status);
  Error out;
  out.code = code_from_reason(text_at(status, "Status.reason"),
                              static_cast<int>(std::clamp<std::int64_t>(http, 0, 999)));
  out.message = text_at(status, "Status.message");
  if (out.message.empty()) out.message = text_at(status, "Status.reason");
  if (out.message.empty()) out.message = fmt::format("the server answered {}", http);
  shorten(out.message, kMaxMessage);
  if (auto seconds = int_at(status, "Status.details.retryAfterSeconds"); seconds && *seconds > 0)
    out.retry_after = std::chrono::seconds(std::min<std::int64_t>(*seconds, 1'000'000));
  return out;
}

Error error_from_answer(int http_status, const net::Headers& headers, std::string_view body) {
  Error out;
  bool understood = false;
  if (body.size() <= kMaxParsed && body.find("\"Status\"") != body.npos) {
    if (auto value = parse_json(body); value && is_status(*value)) {
      out = error_from_status(*value, http_status);
      understood = true;
    }
  }
  if (!understood) {
    out.code = code_from_http(http_status);
    out.message =
        fmt::format("the server answered {} {}", http_status, net::status_text(http_status));
    if (std::string text = excerpt(body); !text.empty()) out.message += ": " + text;
  }
  if (!out.retry_after) out.retry_after = retry_after(headers);
  return out;
}

}  // namespace plim::kube
