#include "local/apiserver/api/watch_lines.hpp"

#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kRemembered = 1024;

std::string begin_line(EventType type, std::size_t object_size) {
  std::string out;
  out.reserve(object_size + 64);
  out += R"({"type":")";
  out += name_of(type);
  out += R"(","object":)";
  return out;
}

net::Piece encode(const Kind& kind, const store::Change& change, EventType type) {
  const store::Entry& entry = type == EventType::deleted ? *change.before : *change.now;
  std::string out = begin_line(type, entry.value->size());
  if (type == EventType::deleted)
    append_object_at(out, kind, *entry.value, change.revision);
  else
    append_object(out, kind, *entry.value);
  out += "}\n";
  return std::make_shared<const std::string>(std::move(out));
}

}  // namespace

std::string_view name_of(EventType type) {
  switch (type) {
    case EventType::added:
      return "ADDED";
    case EventType::modified:
      return "MODIFIED";
    case EventType::deleted:
      return "DELETED";
  }
  return "";
}

std::string object_of(const Kind& kind, const store::Change& change, EventType type) {
  if (type != EventType::deleted) return *change.now->value;
  std::string out;
  append_object_at(out, kind, *change.before->value, change.revision);
  return out;
}

std::string added_line(const Kind& kind, std::string_view bytes) {
  std::string out = begin_line(EventType::added, bytes.size());
  append_object(out, kind, bytes);
  out += "}\n";
  return out;
}

net::Piece WatchLines::line(const KindPtr& kind, const store::ChangePtr& change, EventType type) {
  const Key key{kind.get(), change.get()};
  auto [place, is_new] = encoded_.try_emplace(key);
  if (is_new) {
    place->second.kind = kind;
    place->second.change = change;
    order_.push_back(key);
  }
  net::Piece& line = place->second.lines[static_cast<std::size_t>(type)];
  if (!line) line = encode(*kind, *change, type);
  const net::Piece out = line;
  if (order_.size() > kRemembered) {
    encoded_.erase(order_.front());
    order_.pop_front();
  }
  return out;
}

}  // namespace plim::local::apiserver
