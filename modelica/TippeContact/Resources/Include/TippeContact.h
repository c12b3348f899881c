/* The functions of the Modelica library TippeContact over tippe.h. They have no memory: any order of questions is right. */
#ifndef TIPPE_CONTACT_H
#define TIPPE_CONTACT_H

#include "ModelicaUtilities.h"
#include "tippe.h"
#include <math.h>

/* Points that one question can give. */
#define TIPPE_CONTACT_POINTS 16

static void *TippeContact_open(const char *scene) {
    tippe_collider *collider = 0;
    if (tippe_collider_open(scene, &collider) != 0) ModelicaFormatError("TippeContact: %s\n", tippe_error());
    return collider;
}

static void TippeContact_close(void *collider) { tippe_collider_close((tippe_collider *)collider); }

static int TippeContact_body(void *collider, const char *name) {
    const int body = tippe_collider_body((tippe_collider *)collider, name);
    if (body < 0) ModelicaFormatError("TippeContact: %s\n", tippe_error());
    return body;
}

/* Position and orientation as tippe.h has them, of a position r and a matrix T of nine numbers, row by row, that turns vectors of the world
 * into the frame (Modelica's Frames.Orientation). The largest of the four squares is the safe one to divide by (Shepperd 1978). */
static void TippeContact_pose(const double *r, const double *T, double pose[7]) {
    const double trace = T[0] + T[4] + T[8];
    const double squares[4] = {trace, 2 * T[0] - trace, 2 * T[4] - trace, 2 * T[8] - trace};
    int k = 0;
    for (int i = 1; i < 4; i++) {
        if (squares[i] > squares[k]) k = i;
    }
    double q[4];
    const double root = sqrt(1 + squares[k]), h = 0.5 / root;
    /* the rotation of the body is the transpose of T */
    const double wx = h * (T[5] - T[7]), wy = h * (T[6] - T[2]), wz = h * (T[1] - T[3]);
    const double xy = h * (T[1] + T[3]), xz = h * (T[2] + T[6]), yz = h * (T[5] + T[7]);
    q[0] = k == 0 ? 0.5 * root : k == 1 ? wx : k == 2 ? wy : wz;
    q[1] = k == 1 ? 0.5 * root : k == 0 ? wx : k == 2 ? xy : xz;
    q[2] = k == 2 ? 0.5 * root : k == 0 ? wy : k == 1 ? xy : yz;
    q[3] = k == 3 ? 0.5 * root : k == 0 ? wz : k == 1 ? xz : yz;
    for (int i = 0; i < 3; i++) pose[i] = r[i];
    for (int i = 0; i < 4; i++) pose[3 + i] = q[i];
}

/* Depths [m] (negative while apart: minus the distance), places between the surfaces [m] and normals out of a, resolved in the world, of `count`
 * points, the deepest first. Where there are fewer points the last ones repeat the first with the depth -1e3: they never touch. */
static void TippeContact_points(void *collider, int a, const double *r_a, const double *T_a, int b, const double *r_b,
                                const double *T_b, double *depth, double *place, double *normal, size_t count) {
    tippe_point points[TIPPE_CONTACT_POINTS];
    tippe_contact contact;
    double pose_a[7], pose_b[7];
    TippeContact_pose(r_a, T_a, pose_a);
    TippeContact_pose(r_b, T_b, pose_b);
    if (count > TIPPE_CONTACT_POINTS) ModelicaFormatError("TippeContact: %d points at most\n", TIPPE_CONTACT_POINTS);
    if (tippe_collider_pair((tippe_collider *)collider, a, pose_a, b, pose_b, (int)count, points, &contact) != 0) {
        ModelicaFormatError("TippeContact: %s\n", tippe_error());
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const int there = (int)k < contact.count;
        const tippe_point *own = &points[there ? k : 0];
        depth[k] = there ? own->depth : -1e3;
        for (int i = 0; i < 3; i++) {
            normal[3 * k + i] = contact.count > 0 ? own->normal_a[i] : 0;
            /* T is the transpose of the rotation: its columns are rows of it */
            double in_a = r_a[i], in_b = r_b[i];
            for (int j = 0; j < 3; j++) {
                in_a += T_a[3 * j + i] * own->p_a[j];
                in_b += T_b[3 * j + i] * own->p_b[j];
            }
            place[3 * k + i] = contact.count > 0 ? 0.5 * (in_a + in_b) : r_a[i];
        }
    }
}

#endif
