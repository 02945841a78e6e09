#include "cli/crictl/crictl_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/image_rows.hpp"

namespace plim::cli {
namespace {

constexpr std::size_t kNarrowest = 20, kGap = 3, kShortId = 13;
constexpr std::string_view kNone = "<none>";

using Rows = std::vector<std::vector<std::string>>;

// Texts of a runtime may contain anything; a table has one line per row.
std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return out;
}

std::string shortened(std::string_view id, bool no_trunc) {
  if (no_trunc) return std::string(id);
  if (id.starts_with("sha256:")) id.remove_prefix(7);
  return std::string(id.substr(0, kShortId));
}

std::string first_text(const json::value& image, std::string_view list) {
  const json::array& texts = list_at(image, {list});
  return texts.empty() ? std::string() : std::string(texts[0].get_string());
}

std::int64_t created_at(const json::value& item) {
  return parse_int<std::int64_t>(text_at(item, {"createdAt"})).value_or(0);
}

std::string age_of(const json::value& item, WallTime now) {
  return crictl_age(now - WallTime(Nanos(created_at(item)))) + " ago";
}

std::string label_of(const json::value& item, std::string_view label) {
  const json::value* found = find(item, {"labels", label});
  return found != nullptr ? std::string(found->get_string()) : "unknown";
}

std::string attempt_of(const json::value& item) {
  return std::to_string(int_at(item, {"metadata", "attempt"}).value_or(0));
}

std::string plural(std::int64_t count, std::string_view unit) {
  return fmt::format("{} {}", count, unit);
}

}  // namespace

std::string crictl_table(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), kNarrowest);
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]) + kGap);
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += on_one_line(row[i]);
      if (i + 1 < row.size()) out.append(widths[i] - display_width(row[i]), ' ');
    }
    out += '\n';
  }
  return out;
}

std::string crictl_age(std::chrono::nanoseconds age) {
  using namespace std::chrono;
  const std::int64_t seconds_old = duration_cast<seconds>(age).count();
  const std::int64_t minutes_old = duration_cast<minutes>(age).count();
  const std::int64_t hours_old = duration_cast<hours>(age + 30min).count();
  if (seconds_old < 1) return "Less than a second";
  if (seconds_old == 1) return "1 second";
  if (seconds_old < 60) return plural(seconds_old, "seconds");
  if (minutes_old == 1) return "About a minute";
  if (minutes_old < 60) return plural(minutes_old, "minutes");
  if (hours_old == 1) return "About an hour";
  if (hours_old < 48) return plural(hours_old, "hours");
  const std::int64_t days = hours_old / 24;
  if (days < 14) return plural(days, "days");
  if (days < 60) return plural(days / 7, "weeks");
  if (days < 730) return plural(days / 30, "months");
  return plural(duration_cast<hours>(age).count() / 24 / 365, "years");
}

std::string images_table(const json::array& images, const CrictlStyle& style) {
  Rows rows{{"IMAGE", "TAG"}};
  if (style.digests) rows[0].emplace_back("DIGEST");
  rows[0].insert(rows[0].end(), {"IMAGE ID", "SIZE"});
  if (style.pinned) rows[0].emplace_back("PINNED");
  for (const json::value& image : images) {
    const std::string by_digest = first_text(image, "repoDigests");
    const auto [repository, digest] = cut(by_digest, '@');
    const std::string name(by_digest.empty() ? kNone : repository);
    std::vector<std::pair<std::string, std::string>> tags;
    for (const json::value& one : list_at(image, {"repoTags"})) {
      const std::string_view tag = one.get_string();
      const auto colon = tag.rfind(':');
      if (colon == tag.npos) continue;
      const std::string_view left = tag.substr(0, colon);
      tags.emplace_back(left == kNone ? name : std::string(left), tag.substr(colon + 1));
    }
    if (tags.empty()) tags.emplace_back(name, kNone);
    for (auto& [left, right] : tags) {
      std::vector<std::string> row{left, right};
      if (style.digests)
        row.push_back(by_digest.empty() ? std::string(kNone) : shortened(digest, style.no_trunc));
      row.push_back(shortened(text_at(image, {"id"}), style.no_trunc));
      row.push_back(image_size_text(parse_int<std::int64_t>(text_at(image, {"size"})).value_or(0)));
      const json::value* pinned = find(image, {"pinned"});
      if (style.pinned)
        row.emplace_back(pinned != nullptr && pinned->is_bool() && pinned->get_bool() ? "true"
                                                                                      : "false");
      rows.push_back(std::move(row));
    }
  }
  return crictl_table(rows);
}

std::string containers_table(const json::array& containers, const CrictlStyle& style,
                             WallTime now) {
  Rows rows{
      {"CONTAINER", "IMAGE", "CREATED", "STATE", "NAME", "ATTEMPT", "POD ID", "POD", "NAMESPACE"}};
  for (const json::value& one : containers) {
    std::string state(text_at(one, {"state"}));
    state = state.substr(state.find('_') + 1);
    state = state.substr(0, 1) + to_lower(state.substr(1));
    const std::string_view image = text_at(one, {"image", "image"});
    rows.push_back(
        {shortened(text_at(one, {"id"}), style.no_trunc),
         image.starts_with("sha256:") ? shortened(image, style.no_trunc) : std::string(image),
         age_of(one, now), state, std::string(text_at(one, {"metadata", "name"})), attempt_of(one),
         shortened(text_at(one, {"podSandboxId"}), style.no_trunc),
         label_of(one, "io.kubernetes.pod.name"), label_of(one, "io.kubernetes.pod.namespace")});
  }
  return crictl_table(rows);
}

std::string pods_table(const json::array& pods, const CrictlStyle& style, WallTime now) {
  Rows rows{{"POD ID", "CREATED", "STATE", "NAME", "NAMESPACE", "ATTEMPT", "RUNTIME"}};
  for (const json::value& one : pods) {
    const std::string_view handler = text_at(one, {"runtimeHandler"});
    rows.push_back({shortened(text_at(one, {"id"}), style.no_trunc), age_of(one, now),
                    text_at(one, {"state"}) == "SANDBOX_READY" ? "Ready" : "NotReady",
                    std::string(text_at(one, {"metadata", "name"})),
                    std::string(text_at(one, {"metadata", "namespace"})), attempt_of(one),
                    handler.empty() ? "(default)" : std::string(handler)});
  }
  return crictl_table(rows);
}

void sort_images(json::array& images) {
  std::ranges::sort(images, {}, [](const json::value& image) {
    for (const std::string_view list : {"repoTags", "repoDigests"})
      if (std::string name = first_text(image, list); !name.empty()) return name;
    return std::string(text_at(image, {"id"}));
  });
}

void sort_by_creation(json::array& items) {
  std::ranges::sort(items, std::greater<>(), created_at);
}

}  // namespace plim::cli
