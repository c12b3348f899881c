/* The functions of the Modelica library in the order in which solvers ask: ahead, back, the same again, turned bodies; then the bouncing ball of
 * its examples, flattened by hand and integrated here with an event at the touch. */
#include "TippeContact.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEED(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s: %s\n", __LINE__, #condition, said); \
            return 1; \
        } \
    } while (0)

static char said[1000];

void ModelicaFormatError(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
}

static const double UPRIGHT[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double ORIGIN[3] = {0, 0, 0};
static void *collider;
static int floor_, ball;

static double depth_at(double z, const double *T) {
    const double r[3] = {0, 0, z};
    double depth, place[3], normal[3];
    TippeContact_points(collider, floor_, ORIGIN, UPRIGHT, ball, r, T, &depth, place, normal, 1);
    return depth;
}

/* z'' = -g + K depth^1.5/m, of the example; m = 1 kg. */
static double acceleration(double z, int touching) {
    const double depth = touching ? depth_at(z, UPRIGHT) : 0;
    return -9.81 + (depth > 0 ? 1e7 * depth * sqrt(depth) : 0);
}

/* A step of Runge and Kutta's method of fourth order. */
static void step(double h, double *z, double *v, int touching) {
    double kz[4], kv[4];
    for (int i = 0; i < 4; i++) {
        const double part = i == 0 ? 0 : i == 3 ? h : 0.5 * h;
        const int before = i == 0 ? 0 : i - 1;
        kz[i] = *v + part * (i == 0 ? 0 : kv[before]);
        kv[i] = acceleration(*z + part * (i == 0 ? 0 : kz[before]), touching);
    }
    *z += h / 6 * (kz[0] + 2 * kz[1] + 2 * kz[2] + kz[3]);
    *v += h / 6 * (kv[0] + 2 * kv[1] + 2 * kv[2] + kv[3]);
}

int main(void) {
    collider = TippeContact_open("bouncing_ball");
    NEED(collider != NULL);
    floor_ = TippeContact_body(collider, "floor");
    ball = TippeContact_body(collider, "ball");
    NEED(floor_ >= 0 && ball >= 0);
    const double radius = depth_at(0, UPRIGHT);
    /* ahead, back and again: the same bits */
    double first[50];
    for (int k = 0; k < 50; k++) first[k] = depth_at(1 - 0.02 * k, UPRIGHT);
    for (int k = 49; k >= 0; k--) NEED(depth_at(1 - 0.02 * k, UPRIGHT) == first[k] && fabs(first[k] - (radius - 1 + 0.02 * k)) < 1e-14);
    /* turned by any of these, a ball is a ball: all four branches of the quaternion */
    const double turns[4][9] = {{0, 1, 0, -1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, -1, 0, 0, 0, -1}, {-1, 0, 0, 0, 1, 0, 0, 0, -1}, {-1, 0, 0, 0, -1, 0, 0, 0, 1}};
    for (int k = 0; k < 4; k++) NEED(fabs(depth_at(0.5, turns[k]) - (radius - 0.5)) < 1e-14);
    /* the quaternion turns as T does: x of the frame of the second row */
    double pose[7];
    TippeContact_pose(ORIGIN, turns[0], pose);
    NEED(fabs(pose[3] - sqrt(0.5)) < 1e-15 && fabs(pose[6] - sqrt(0.5)) < 1e-15);
    /* the ball falls from 1 m: free steps, the touch located between two of them, and back up to where it was */
    double z = 1, v = 0, t = 0, h = 1e-3;
    while (depth_at(z, UPRIGHT) <= 0) {
        double z_next = z, v_next = v;
        step(h, &z_next, &v_next, 0);
        if (depth_at(z_next, UPRIGHT) > 0) break;
        z = z_next, v = v_next, t += h;
    }
    double low = 0, high = h;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        double z_next = z, v_next = v;
        step(middle, &z_next, &v_next, 0);
        *(depth_at(z_next, UPRIGHT) > 0 ? &high : &low) = middle;
    }
    step(high, &z, &v, 0);
    t += high;
    NEED(fabs(t - sqrt(2 * (1 - radius) / 9.81)) < 1e-12);
    const double speed = -v;
    for (h = 1e-6; depth_at(z, UPRIGHT) > -1e-12; t += h) step(h, &z, &v, 1);
    NEED(fabs(v / speed - 1) < 1e-4);
    NEED(fabs(z - radius + 0.5 * v * v / 9.81 - (1 - radius)) < 1e-4);
    TippeContact_body(collider, "bal");
    NEED(strstr(said, "there is no body \"bal\"") != NULL);
    TippeContact_close(collider);
    return 0;
}
