// What the tests add to precompiled.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "precompiled.hpp"  // change this file with that one: ccache looks at its digest alone
