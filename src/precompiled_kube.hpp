// What kube and the modules above it add to precompiled.hpp.
#pragma once

#include "kube/client.hpp"
#include "kube/config.hpp"
#include "kube/decode.hpp"
#include "kube/informer.hpp"
#include "kube/object.hpp"
#include "kube/selector.hpp"
#include "kube/types.hpp"
#include "kube/work_queue.hpp"
#include "net/client.hpp"
#include "net/http.hpp"
#include "net/server.hpp"
#include "precompiled.hpp"
